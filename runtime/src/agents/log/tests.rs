//! The log: numbers without a gap, following without gap or repeat, trimming.

use super::*;
use crate::agents::store::{Place, sessions};
use crate::agents::testing::{Bench, chunk};
use serde_json::json;
use std::time::Duration;

async fn all(log: &Log, session_id: &str) -> Vec<Event> {
    let name = session_id.to_owned();
    let read = move |db: &Connection| {
        let session = sessions::number(db, &name)?;
        let asked = Asked { session, limit: usize::MAX, max_bytes: usize::MAX, ..Asked::default() };
        Ok(list(db, &asked)?.0)
    };
    log.0.store.read(read).await.unwrap()
}

fn words(events: &[Event]) -> Vec<String> {
    events.iter().map(|event| format!("{} {} {}", event.seq, event.kind.as_str(), event.data.get())).collect()
}

#[tokio::test]
async fn events_are_numbered_and_completed_messages_said() {
    let bench = Bench::new();
    let session = bench.session().await;
    let (log, id) = (&bench.log, session.as_str());
    log.append(id, vec![chunk("agent", "Hel"), chunk("agent", "lo")]).await.unwrap();
    log.append(id, vec![chunk("thought", "hm"), NewEvent::new(Kind::TurnCompleted, json!({}))])
        .await
        .unwrap();
    let events = all(log, id).await;
    let kinds: Vec<(i64, &str)> = events.iter().map(|event| (event.seq, event.kind.as_str())).collect();
    let wanted = [
        (1, "message.chunk"),
        (2, "message.chunk"),
        (3, "message.completed"),
        (4, "message.chunk"),
        (5, "message.completed"),
        (6, "turn.completed"),
    ];
    assert_eq!(kinds, wanted);
    let completed = events[2].value();
    assert_eq!((&completed["role"], &completed["text_bytes"]), (&json!("agent"), &json!(5)));
}

#[tokio::test]
async fn a_failing_change_leaves_neither_state_nor_event() {
    let bench = Bench::new();
    let session = bench.session().await;
    let events = || vec![NewEvent::new(Kind::SessionState, json!({"state": "running"}))];
    let change = |db: &Connection| db.execute("UPDATE sessions SET state = NULL", []);
    assert!(bench.log.append_with(&session, events(), change).await.is_err());
    let change = |db: &Connection| db.execute("UPDATE sessions SET state = 'running'", []);
    let missing = bench.log.append_with("ses_none", events(), change).await;
    assert!(matches!(missing, Err(StoreError::NoSession)));
    assert!(all(&bench.log, &session).await.is_empty());
    let row = bench
        .store
        .read({
            let session = session.clone();
            move |db| sessions::find(db, &session)
        })
        .await;
    assert_eq!(row.unwrap().unwrap().state, "idle");
    bench.log.append_with(&session, events(), change).await.unwrap();
    assert_eq!(words(&all(&bench.log, &session).await), [r#"1 session.state {"state":"running"}"#]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn followers_see_every_event_once_and_in_order_wherever_they_begin() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut followers = Vec::new();
    for begin in [0, 0, 1, 500, 1999] {
        while all(&bench.log, &session).await.len() < usize::try_from(begin).unwrap() {
            let events = (0..500).map(|n| chunk("agent", &format!("{n} "))).collect();
            bench.log.append(&session, events).await.unwrap();
        }
        let mut follow = bench.log.follow(&session, begin).await.unwrap();
        followers.push(tokio::spawn(async move {
            let mut seen = Vec::new();
            while seen.last() != Some(&10_000) {
                seen.extend(follow.next(97).await.unwrap().iter().map(|event| event.seq));
            }
            (begin, seen)
        }));
    }
    let appender = bench.log.appender(&session);
    for n in 2000..10_000 {
        appender.push(chunk("agent", &format!("{n} "))).await.unwrap();
    }
    appender.flush().await.unwrap();
    for follower in followers {
        let (begin, seen) = follower.await.unwrap();
        assert_eq!(seen, (begin + 1..=10_000).collect::<Vec<i64>>(), "from {begin}");
    }
}

#[tokio::test]
async fn following_all_sessions_follows_global_numbers() {
    let bench = Bench::new();
    let (one, two) = (bench.session().await, bench.session().await);
    bench.log.append(&one, vec![chunk("agent", "1")]).await.unwrap();
    let mut from_now = bench.log.follow_all(None).await.unwrap();
    bench.log.append(&two, vec![chunk("agent", "2"), chunk("agent", "3")]).await.unwrap();
    let mut from_begin = bench.log.follow_all(Some(0)).await.unwrap();
    let seen = |events: &[Arc<Event>]| {
        events.iter().map(|event| (event.gseq, event.seq, event.session_id.to_string())).collect::<Vec<_>>()
    };
    let wanted = [(1, 1, one.clone()), (2, 1, two.clone()), (3, 2, two.clone())];
    assert_eq!(seen(&from_begin.next(10).await.unwrap()), wanted);
    assert_eq!(seen(&from_now.next(10).await.unwrap()), wanted[1..]);
    let beyond = bench.log.follow_all(Some(4)).await;
    assert!(matches!(beyond, Err(FollowError::Beyond { last: 3 })));
}

#[tokio::test]
async fn a_deleted_session_ends_its_followers_and_is_gone() {
    let bench = Bench::new();
    let session = bench.session().await;
    bench.log.append(&session, vec![chunk("agent", "1")]).await.unwrap();
    let mut follow = bench.log.follow(&session, 1).await.unwrap();
    let waiting = tokio::spawn(async move { follow.next(10).await.map(|events| events.len()) });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(bench.log.delete(&session).await.unwrap().is_some());
    assert!(matches!(waiting.await.unwrap(), Err(FollowError::Gone)));
    assert!(bench.log.delete(&session).await.unwrap().is_none());
    let left = |db: &Connection| {
        db.query_row("SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM items)", [], |row| {
            row.get::<_, i64>(0)
        })
    };
    assert_eq!(bench.store.read(left).await.unwrap(), 0_i64);
}

/// What a log says, however it is cut into events.
fn told(events: &[Event]) -> Vec<(String, String)> {
    let mut told: Vec<(String, String)> = Vec::new();
    for event in events {
        let data = event.value();
        let (kind, text) = match event.kind {
            Kind::MessageChunk => {
                (format!("chunk {}", data["role"]), data["content"]["text"].as_str().unwrap().to_owned())
            }
            kind => (kind.as_str().to_owned(), data.to_string()),
        };
        match told.last_mut() {
            Some((last, said)) if *last == kind => said.push_str(&text),
            _ => told.push((kind, text)),
        }
    }
    told
}

#[tokio::test]
async fn trimming_joins_old_chunks_first_and_then_drops_the_oldest() {
    let bench = Bench::with(Bounds { events: 400, bytes: 1 << 30 });
    let session = bench.session().await;
    let mut sent = Vec::new();
    for n in 0..390 {
        let event = if n % 50 == 49 {
            NewEvent::new(Kind::UsageUpdated, json!({"used": n}))
        } else {
            chunk("agent", &format!("{n} "))
        };
        sent.push(event);
    }
    bench.log.append(&session, sent).await.unwrap();
    let whole = told(&all(&bench.log, &session).await);
    // Over the bound: the old ones are joined, and nothing is lost.
    let more = (0..20).map(|n| chunk("agent", &format!("m{n} "))).collect();
    bench.log.append(&session, more).await.unwrap();
    bench.trimmed(&session).await;
    let events = all(&bench.log, &session).await;
    assert!(events.len() < 360, "{}", events.len());
    assert_eq!(told(&events)[..whole.len() - 1], whole[..whole.len() - 1]);
    assert_eq!(events[0].value()["from_seq"], 1);
    assert_eq!(events.last().unwrap().seq, 410);
    // Every number is an event or lies in one that was joined.
    let mut next = 1;
    for event in &events {
        assert_eq!(
            event.value().get("from_seq").and_then(serde_json::Value::as_i64).unwrap_or(event.seq),
            next
        );
        next = event.seq + 1;
    }
    // What cannot be joined is dropped from the front.
    let many = (0..500).map(|n| NewEvent::new(Kind::UsageUpdated, json!({"used": n}))).collect();
    bench.log.append(&session, many).await.unwrap();
    bench.trimmed(&session).await;
    let events = all(&bench.log, &session).await;
    let first = events[0].seq;
    assert!(first > 410 && events.len() <= 360, "{first} {}", events.len());
    assert_eq!(events.last().unwrap().seq, 910);
    let expired = bench.log.follow(&session, first - 2).await;
    assert!(matches!(expired, Err(FollowError::Expired { first: at }) if at == first));
    bench.log.follow(&session, first - 1).await.unwrap();
}

#[tokio::test]
async fn an_appender_stops_behind_a_gap() {
    let bench = Bench::new();
    let session = bench.session().await;
    let appender = bench.log.appender(&session);
    appender.push(chunk("agent", "1")).await.unwrap();
    appender.flush().await.unwrap();
    bench.log.delete(&session).await.unwrap();
    appender.push(chunk("agent", "2")).await.unwrap();
    assert!(appender.flush().await.is_err());
    assert!(appender.push(chunk("agent", "3")).await.is_err());
}

#[tokio::test]
async fn numbers_go_on_after_the_store_was_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place { state_dir: dir.path().join("state"), base_dir: dir.path().join("base") };
    let mut session = None;
    for round in 0..3 {
        let store = Store::open_now(place.clone()).unwrap();
        let log = Log::new(store.clone(), Bounds::default());
        let id = match &session {
            None => session.insert(Bench::insert(&store).await),
            Some(id) => id,
        };
        let events = log.append(id, vec![chunk("agent", "x"), chunk("agent", "y")]).await.unwrap();
        let numbers: Vec<(i64, i64)> = events.iter().map(|event| (event.seq, event.gseq)).collect();
        assert_eq!(numbers, [(round * 2 + 1, round * 2 + 1), (round * 2 + 2, round * 2 + 2)]);
    }
}
