//! The store: grouped commits, closures that fail, reads beside writes.

use super::*;

fn store(dir: &tempfile::TempDir) -> Store {
    let place = Place { state_dir: dir.path().join("state"), base_dir: dir.path().join("base") };
    Store::open_now(place).unwrap()
}

fn session(name: &str) -> sessions::SessionRow {
    sessions::SessionRow {
        session_id: name.to_owned(),
        agent_id: "scripted".to_owned(),
        owner: "anonymous".to_owned(),
        state: "idle".to_owned(),
        cwd: "/".to_owned(),
        ..Default::default()
    }
}

#[tokio::test]
async fn what_is_answered_is_there_after_the_store_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    {
        let store = store(&dir);
        let writes =
            (0..200).map(|n| store.write(move |db| sessions::insert(db, &session(&format!("ses_{n}")))));
        let numbers: Vec<i64> =
            futures_util::future::join_all(writes).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(numbers, (1..=200).collect::<Vec<i64>>());
    }
    let found = store(&dir).read(|db| sessions::find(db, "ses_199")).await.unwrap().unwrap();
    assert_eq!(found, sessions::SessionRow { no: 200, first_seq: 1, ..session("ses_199") });
}

#[tokio::test]
async fn a_write_that_fails_takes_no_other_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir);
    let first = store.write(|db| sessions::insert(db, &session("ses_1")));
    let failing = store.write(|db| {
        sessions::insert(db, &session("ses_2"))?;
        sessions::insert(db, &session("ses_1"))
    });
    let panicking = store.write(|db| -> rusqlite::Result<()> {
        sessions::insert(db, &session("ses_3"))?;
        panic!("asked for")
    });
    let last = store.write(|db| sessions::insert(db, &session("ses_4")));
    first.await.unwrap();
    assert!(matches!(failing.await, Err(StoreError::Database(_))));
    assert!(matches!(panicking.await, Err(StoreError::Stopped)));
    last.await.unwrap();
    let read = |db: &Connection| {
        let mut rows = db.prepare("SELECT session_id FROM sessions ORDER BY no")?;
        rows.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()
    };
    assert_eq!(store.read(read).await.unwrap(), ["ses_1", "ses_4"]);
    assert_eq!(store.lost(), 2);
}

#[tokio::test]
async fn readers_cannot_write() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir);
    assert!(store.read(|db| sessions::insert(db, &session("ses_1"))).await.is_err());
}

#[tokio::test]
async fn a_row_comes_back_as_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir);
    let mut row = session("ses_1");
    row.labels.insert("k".to_owned(), "v".into());
    let no = store
        .write({
            let row = row.clone();
            move |db| sessions::insert(db, &row)
        })
        .await
        .unwrap();
    row.title = Some("a title".to_owned());
    row.state = "closed".to_owned();
    row.closed_at = Some(2.5);
    assert!(
        store
            .write({
                let row = row.clone();
                move |db| sessions::update(db, &row)
            })
            .await
            .unwrap()
    );
    let turn = turns::TurnRow {
        turn_id: "trn_1".to_owned(),
        session: no,
        state: "queued".to_owned(),
        prompt: serde_json::json!([{"type": "text", "text": "hello"}]),
        usage: Some(serde_json::json!({"input_tokens": 1})),
        ..Default::default()
    };
    store
        .write({
            let turn = turn.clone();
            move |db| turns::insert(db, &turn)
        })
        .await
        .unwrap();
    let found = store.read(|db| Ok((sessions::find(db, "ses_1")?, turns::find(db, "trn_1")?))).await.unwrap();
    let wanted =
        (Some(sessions::SessionRow { no: 1, first_seq: 1, ..row }), Some(turns::TurnRow { no: 1, ..turn }));
    assert_eq!(found, wanted);
}
