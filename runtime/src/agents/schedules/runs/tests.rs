//! Slots against a clock of our own.

use super::*;
use crate::agents::schedules::trigger::Trigger;
use jiff::tz::TimeZone;

fn database() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(include_str!("../../store/migrations/0001_sessions.sql")).unwrap();
    db.execute_batch(include_str!("../../store/migrations/0005_automation.sql")).unwrap();
    db
}

/// A schedule that fires every 600 s, from 0 on.
fn schedule(db: &Connection, change: impl FnOnce(&mut Schedule)) -> Schedule {
    let mut row = Schedule {
        no: 0,
        schedule_id: "sch_1".to_owned(),
        name: "nightly".to_owned(),
        trigger: Trigger::read(None, Some(&json!(600)), None).unwrap(),
        zone: TimeZone::UTC,
        enabled: true,
        owner: "ann".to_owned(),
        session_id: None,
        session_fields: Map::new(),
        prompt: "go".into(),
        queues: false,
        makes_up: false,
        max_failures: 2,
        failures: 0,
        anchor: 0,
        next_at: Some(600),
        created_at: 0.0,
        updated_at: 0.0,
    };
    change(&mut row);
    row.no = rows::put(db, &row).unwrap();
    row
}

fn session_and_turn(db: &Connection, turn: &str, state: &str, queued_at: f64) {
    db.execute(
        "INSERT OR IGNORE INTO sessions (no, session_id, agent_id, owner, state, cwd, created_at, updated_at)
         VALUES (1, 'ses_1', 'a', 'ann', 'idle', '/w', 0, 0)",
        [],
    )
    .unwrap();
    db.execute(
        "INSERT INTO turns (turn_id, session, state, owner, schedule_id, queued_at) VALUES (?1, 1, ?2, 'ann', 'sch_1', ?3)",
        (turn, state, queued_at),
    )
    .unwrap();
}

fn shown(db: &Connection, no: i64) -> Vec<String> {
    let field = |run: &Value, name: &str| run.get(name).map(|value| value.to_string()).unwrap_or_default();
    let runs = latest(db, no, 100).unwrap();
    runs.iter()
        .map(|run| format!("{} {} {}", field(run, "slot"), field(run, "state"), field(run, "reason")))
        .collect()
}

#[test]
fn a_slot_is_claimed_once_and_the_schedule_moves_on_once() {
    let db = database();
    let own = schedule(&db, |_| {});
    assert!(claim(&db, 599).unwrap().is_empty());
    let claims = claim(&db, 605).unwrap();
    assert_eq!(claims.len(), 1);
    assert!(claim(&db, 605).unwrap().is_empty());
    // A clock that was set back brings no slot twice, even where the schedule has been moved back with it.
    rows::advance(&db, own.no, Some(600)).unwrap();
    assert!(claim(&db, 601).unwrap().is_empty());
    assert_eq!(rows::find(&db, "sch_1").unwrap().unwrap().next_at, Some(1200));
    assert_eq!(shown(&db, own.no), ["600.0 \"claimed\" "]);
}

#[test]
fn a_slot_during_a_slow_run_is_skipped_or_waits() {
    for (queues, wanted) in [(false, "1200.0 \"skipped\" \"overlap\""), (true, "1200.0 \"claimed\" ")] {
        let db = database();
        let own = schedule(&db, |row| row.queues = queues);
        let run = claim(&db, 600).unwrap().remove(0).run;
        session_and_turn(&db, "trn_1", "running", 600.0);
        started(&db, run, "ses_1", "trn_1").unwrap();
        assert!(settle(&db).unwrap(), "it goes on");
        assert_eq!(claim(&db, 1200).unwrap().len(), usize::from(queues));
        assert_eq!(shown(&db, own.no)[0], wanted);
        db.execute("UPDATE turns SET state = 'completed', stop_reason = 'end_turn'", []).unwrap();
        assert!(!settle(&db).unwrap());
        assert_eq!(shown(&db, own.no)[1], "600.0 \"completed\" \"end_turn\"");
        assert_eq!(claim(&db, 1800).unwrap().len(), 1, "the slow run is over");
    }
}

#[test]
fn missed_slots_are_skipped_or_made_up_for_by_one_run() {
    for (makes_up, wanted) in [(false, "6000.0 \"skipped\" \"missed\""), (true, "6000.0 \"claimed\" ")] {
        let db = database();
        let own = schedule(&db, |row| row.makes_up = makes_up);
        assert_eq!(claim(&db, 6500).unwrap().len(), usize::from(makes_up));
        assert_eq!(shown(&db, own.no), [wanted], "one row for all that were missed");
        assert_eq!(rows::find(&db, "sch_1").unwrap().unwrap().next_at, Some(6600));
    }
    // A short absence is none.
    let db = database();
    schedule(&db, |_| {});
    assert_eq!(claim(&db, 600 + GRACE).unwrap().len(), 1);
    // Nor does a long one take long.
    let db = database();
    schedule(&db, |row| row.trigger = Trigger::read(Some(&json!("* * * * *")), None, None).unwrap());
    claim(&db, 1_700_000_000).unwrap();
    assert_eq!(rows::find(&db, "sch_1").unwrap().unwrap().next_at, Some(1_700_000_040));
}

#[test]
fn a_restart_in_mid_slot_fires_what_was_claimed_once() {
    let db = database();
    let own = schedule(&db, |_| {});
    let run = claim(&db, 600).unwrap().remove(0).run;
    // The server dies here, before the turn is there.
    let again = left_behind(&db).unwrap();
    assert_eq!(again.iter().map(|claim| claim.run).collect::<Vec<_>>(), [run]);
    assert!(claim(&db, 601).unwrap().is_empty());
    // Or here, when the turn is there and the run does not know it yet.
    session_and_turn(&db, "trn_1", "queued", 600.5);
    assert!(left_behind(&db).unwrap().is_empty());
    assert_eq!(shown(&db, own.no), ["600.0 \"started\" "]);
    assert!(left_behind(&db).unwrap().is_empty());
}

#[test]
fn failures_in_a_row_disable_and_a_success_forgets_them() {
    let db = database();
    let own = schedule(&db, |_| {});
    let mut at = 600;
    for (state, failures, enabled) in [
        ("failed", 1, true),
        ("completed", 0, true),
        ("interrupted", 1, true),
        ("cancelled", 1, true),
        ("failed", 2, false),
    ] {
        let run = claim(&db, at).unwrap().remove(0).run;
        ended(&db, run, state, None).unwrap();
        let now = rows::find(&db, "sch_1").unwrap().unwrap();
        assert_eq!((now.failures, now.enabled), (failures, enabled), "{state}");
        at += 600;
    }
    assert!(claim(&db, at).unwrap().is_empty());
    assert!(by_hand(&db, own.no, 1.0, false).unwrap().is_some());
    assert!(by_hand(&db, own.no, 1.0, false).unwrap().is_none(), "the first goes on");
    assert!(by_hand(&db, own.no, 1.0, true).unwrap().is_some());
    assert_eq!(rows::find(&db, "sch_1").unwrap().unwrap().next_at, Some(at), "a run by hand moves nothing");
}

#[test]
fn old_runs_are_forgotten_and_open_ones_are_not() {
    let db = database();
    let own = schedule(&db, |_| {});
    by_hand(&db, own.no, 0.0, true).unwrap();
    for n in 0..150 {
        let run = by_hand(&db, own.no, f64::from(n), true).unwrap().unwrap();
        ended(&db, run, "completed", None).unwrap();
    }
    let kept: i64 = db.query_row("SELECT count(*) FROM schedule_runs", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, KEPT + 1);
}
