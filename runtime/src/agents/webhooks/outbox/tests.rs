//! Filling and emptying against a clock of our own.

use super::*;
use crate::agents::webhooks::choice::Choice;
use proptest::prelude::*;

fn database() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(include_str!("../../store/migrations/0001_sessions.sql")).unwrap();
    db.execute_batch(include_str!("../../store/migrations/0005_automation.sql")).unwrap();
    for no in [1, 2] {
        db.execute(
            "INSERT INTO sessions (no, session_id, agent_id, owner, state, cwd, created_at, updated_at)
             VALUES (?1, 'ses_' || ?1, 'a', 'ann', 'idle', '/w', 0, 0)",
            [no],
        )
        .unwrap();
    }
    db
}

fn webhook(db: &Connection, kinds: &[&str]) -> Webhook {
    let choice = Choice::read(kinds.iter().map(|kind| (*kind).to_owned()).collect(), None).unwrap();
    let row = Webhook {
        webhook_id: ids::new(ids::WEBHOOK),
        url: "http://hook/".to_owned(),
        choice,
        enabled: true,
        created_at: 10.0,
        ..Webhook::default()
    };
    Webhook { no: rows::put(db, &row).unwrap(), ..row }
}

fn event(db: &Connection, session: i64, kind: &str, ts: f64) {
    db.execute("UPDATE counters SET value = value + 1 WHERE name = 'gseq'", []).unwrap();
    db.execute(
        "INSERT INTO events (gseq, session, seq, ts, kind, data)
         SELECT value, ?1, value, ?3, ?2, '{\"n\":1}' FROM counters WHERE name = 'gseq'",
        (session, kind, ts),
    )
    .unwrap();
}

fn fill_all(db: &Connection) {
    while fill(db, 20.0).unwrap() {}
}

fn tried(due: &Due, at: f64, status: u16) -> Delivery {
    Delivery {
        delivery_id: due.delivery_id.clone(),
        kind: due.kind.clone(),
        at,
        status: Some(status),
        attempt: due.attempt + 1,
        ms: 1,
        error: None,
    }
}

#[test]
fn events_are_put_once_and_none_from_before_the_webhook() {
    let db = database();
    event(&db, 1, "turn.completed", 5.0);
    assert!(!is_behind(&db).unwrap(), "nobody wants it");
    begin(&db).unwrap();
    let hook = webhook(&db, &["turn.*"]);
    event(&db, 1, "turn.queued", 9.0);
    event(&db, 1, "turn.started", 11.0);
    event(&db, 1, "message.chunk", 11.0);
    assert!(is_behind(&db).unwrap());
    fill_all(&db);
    assert!(!is_behind(&db).unwrap());
    fill_all(&db);
    assert_eq!(pending(&db, hook.no).unwrap(), 1);
    let body: Value = serde_json::from_str(&due(&db, 20.0, 9).unwrap()[0].body).unwrap();
    assert_eq!(body["event"]["kind"], "turn.started");
    assert_eq!(body["session"], json!({"session_id": "ses_1", "agent_id": "a", "labels": {}}));
    assert_eq!(rows::delete(&db, &hook.webhook_id).unwrap(), Some(1));
    assert_eq!(rows::delete(&db, &hook.webhook_id).unwrap(), None);
}

#[test]
fn more_than_one_batch_is_looked_through() {
    let db = database();
    let hook = webhook(&db, &["ext"]);
    for n in 0..1_100 {
        event(&db, 1, if n % 2 == 0 { "ext" } else { "message.chunk" }, 11.0);
    }
    fill_all(&db);
    assert_eq!(pending(&db, hook.no).unwrap(), 550);
}

#[test]
fn a_session_waits_for_its_oldest_delivery_and_other_sessions_do_not() {
    let db = database();
    webhook(&db, &["ext"]);
    for session in [1, 1, 2] {
        event(&db, session, "ext", 11.0);
    }
    fill_all(&db);
    let first = due(&db, 20.0, 9).unwrap();
    assert_eq!(first.iter().map(|due| &*due.session_id).collect::<Vec<_>>(), ["ses_1", "ses_2"]);
    settle(&db, &first[0], &tried(&first[0], 20.0, 500)).unwrap();
    settle(&db, &first[1], &tried(&first[1], 20.0, 204)).unwrap();
    assert!(due(&db, 20.5, 9).unwrap().is_empty());
    assert_eq!(earliest(&db).unwrap(), Some(20.0), "the younger one waits behind");
    let again = due(&db, 21.0, 9).unwrap();
    assert_eq!((again.len(), again[0].no, again[0].attempt), (1, first[0].no, 1));
    settle(&db, &again[0], &tried(&again[0], 21.0, 200)).unwrap();
    assert_eq!(due(&db, 21.0, 9).unwrap().len(), 1, "now the younger one");
}

#[test]
fn a_delivery_is_given_up_after_a_day() {
    let db = database();
    let hook = webhook(&db, &["ext"]);
    event(&db, 1, "ext", 11.0);
    fill_all(&db);
    let (mut now, mut pauses) = (20.0, Vec::new());
    while let Some(next) = earliest(&db).unwrap() {
        pauses.push(next - now);
        now = next;
        let due = due(&db, now, 9).unwrap().remove(0);
        settle(&db, &due, &tried(&due, now, 503)).unwrap();
    }
    assert_eq!(pauses[..12], [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 600.0]);
    assert!(now > 20.0 + LIFE - LONGEST_PAUSE && now <= 20.0 + LIFE, "{now}");
    assert_eq!(rows::latest(&db, hook.no).unwrap().len(), 20);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever fails when: each session's deliveries arrive in order, each at least once.
    #[test]
    fn deliveries_of_a_session_arrive_in_order(
        sessions in proptest::collection::vec(1_i64..=2, 1..12),
        failures in proptest::collection::vec(any::<bool>(), 0..40),
    ) {
        let db = database();
        webhook(&db, &["ext"]);
        for session in &sessions {
            event(&db, *session, "ext", 11.0);
        }
        fill_all(&db);
        let (mut failures, mut arrived, mut now) = (failures.into_iter(), Vec::new(), 20.0);
        while let Some(next) = earliest(&db).unwrap() {
            now = next.max(now);
            let due = due(&db, now, 9).unwrap();
            if due.is_empty() {
                now += 1.0;
            }
            for one in due {
                let fails = failures.next().unwrap_or(false);
                settle(&db, &one, &tried(&one, now, if fails { 500 } else { 200 })).unwrap();
                if !fails {
                    arrived.push((one.session_id, one.no));
                }
            }
        }
        prop_assert_eq!(arrived.len(), sessions.len());
        for session in ["ses_1", "ses_2"] {
            let order: Vec<i64> = arrived.iter().filter(|one| one.0 == session).map(|one| one.1).collect();
            prop_assert!(order.is_sorted());
        }
    }
}
