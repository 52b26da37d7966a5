//! What became of the slots of a schedule. A slot is one row, written before it fires: whoever writes it fires it, once.

use rusqlite::{Connection, OptionalExtension as _, Row};
use serde_json::{Map, Value, json};

use super::rows::{self, Schedule, stored};

/// A slot later than this many seconds was missed: nobody was there when it came.
const GRACE: i64 = 60;

/// Runs of a schedule that are kept.
const KEPT: i64 = 100;

/// A run that is to start now.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The number of its row.
    pub run: i64,
    /// What is run.
    pub schedule: Schedule,
}

/// Claims every slot that has come, and moves its schedule on. To be run in one transaction.
///
/// # Errors
/// Those of the database; nothing is claimed then.
pub fn claim(db: &Connection, now: i64) -> rusqlite::Result<Vec<Claim>> {
    let mut claims = Vec::new();
    for schedule in rows::due(db, now)? {
        let Some(due) = schedule.next_at else { continue };
        // Of several that have passed only the last can still be kept.
        let slot = last_slot(&schedule, due, now);
        let next = schedule.trigger.next(now.max(slot), schedule.anchor, &schedule.zone);
        rows::advance(db, schedule.no, next)?;
        let skip = if now - slot > GRACE && !schedule.makes_up {
            Some("missed")
        } else if !schedule.queues && is_running(db, schedule.no)? {
            Some("overlap")
        } else {
            None
        };
        let (state, reason) = skip.map_or(("claimed", None), |why| ("skipped", Some(why)));
        let inserted = db
            .prepare_cached(
                "INSERT INTO schedule_runs (schedule, slot, at, state, reason) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO NOTHING",
            )?
            .execute((schedule.no, stored(slot), stored(now), state, reason))?;
        if inserted > 0 && skip.is_none() {
            claims.push(Claim { run: db.last_insert_rowid(), schedule: schedule.clone() });
        }
        trim(db, schedule.no)?;
    }
    Ok(claims)
}

/// The last slot that is not after `now`, beginning from `due`.
fn last_slot(schedule: &Schedule, due: i64, now: i64) -> i64 {
    let next = |after| schedule.trigger.next(after, schedule.anchor, &schedule.zone);
    // Nothing is looked for one by one over years of absence: near the end is near enough.
    let mut slot = [now - 86_400 * 366, now - 86_400 * 8, now - 3_600, now - 60]
        .into_iter()
        .filter(|back| *back > due)
        .filter_map(|back| next(back).filter(|slot| *slot <= now))
        .next_back()
        .unwrap_or(due);
    for _ in 0..100_000 {
        match next(slot) {
            Some(later) if later <= now => slot = later,
            _ => break,
        }
    }
    slot
}

/// Opens a run that was asked for by hand; none where the last one goes on and that matters.
///
/// # Errors
/// Those of the database.
pub fn by_hand(
    db: &Connection,
    schedule: i64,
    now: f64,
    ignore_overlap: bool,
) -> rusqlite::Result<Option<i64>> {
    if !ignore_overlap && is_running(db, schedule)? {
        return Ok(None);
    }
    db.prepare_cached("INSERT INTO schedule_runs (schedule, at, state) VALUES (?1, ?2, 'claimed')")?
        .execute((schedule, now))?;
    let run = db.last_insert_rowid();
    trim(db, schedule)?;
    Ok(Some(run))
}

/// Whether a run of the schedule goes on.
///
/// # Errors
/// Those of the database.
pub fn is_running(db: &Connection, schedule: i64) -> rusqlite::Result<bool> {
    let mut query = db.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM schedule_runs WHERE schedule = ?1 AND state IN ('claimed', 'started'))",
    )?;
    query.query_row([schedule], |row| row.get(0))
}

/// Whether any run of any schedule goes on.
///
/// # Errors
/// Those of the database.
pub fn are_open(db: &Connection) -> rusqlite::Result<bool> {
    let mut query =
        db.prepare_cached("SELECT EXISTS (SELECT 1 FROM schedule_runs WHERE state = 'started')")?;
    query.query_row([], |row| row.get(0))
}

/// A run has become a turn.
///
/// # Errors
/// Those of the database.
pub fn started(db: &Connection, run: i64, session_id: &str, turn_id: &str) -> rusqlite::Result<()> {
    let mut update = db.prepare_cached(
        "UPDATE schedule_runs SET state = 'started', session_id = ?2, turn_id = ?3 WHERE no = ?1",
    )?;
    update.execute((run, session_id, turn_id)).map(drop)
}

/// A run came to its end. One that failed counts against its schedule, which is disabled after too many in a row.
///
/// # Errors
/// Those of the database.
pub fn ended(db: &Connection, run: i64, state: &str, reason: Option<&str>) -> rusqlite::Result<()> {
    let mut update = db.prepare_cached(
        "UPDATE schedule_runs SET state = ?2, reason = ?3 WHERE no = ?1 RETURNING schedule",
    )?;
    let schedule: Option<i64> = update.query_row((run, state, reason), |row| row.get(0)).optional()?;
    match state {
        "completed" => {
            db.prepare_cached("UPDATE schedules SET failures_in_a_row = 0 WHERE no = ?1")?
                .execute([schedule])?;
        }
        "failed" | "interrupted" => {
            db.prepare_cached(
                "UPDATE schedules SET failures_in_a_row = failures_in_a_row + 1,
                    enabled = iif(failures_in_a_row + 1 >= max_failures, 0, enabled) WHERE no = ?1",
            )?
            .execute([schedule])?;
        }
        _ => {}
    }
    Ok(())
}

/// Looks after the turns of runs that were started: those that have ended end their runs. Whether any goes on.
///
/// # Errors
/// Those of the database.
pub fn settle(db: &Connection) -> rusqlite::Result<bool> {
    let mut query = db.prepare_cached(
        "SELECT runs.no, turns.state, coalesce(turns.stop_reason, turns.error ->> 'code') FROM schedule_runs AS runs
         LEFT JOIN turns ON turns.turn_id = runs.turn_id WHERE runs.state = 'started'",
    )?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let open: Vec<(i64, Option<String>, Option<String>)> =
        query.query_map([], read)?.collect::<rusqlite::Result<_>>()?;
    let mut goes_on = false;
    for (run, state, reason) in open {
        match state.as_deref() {
            Some(state @ ("completed" | "cancelled" | "failed" | "interrupted")) => {
                ended(db, run, state, reason.as_deref())?;
            }
            Some(_) => goes_on = true,
            // Its session was deleted.
            None => ended(db, run, "cancelled", Some("session_deleted"))?,
        }
    }
    Ok(goes_on)
}

/// Claims that an earlier server has left without a turn. One whose turn is there all the same is given it; the others
/// are to be started now.
///
/// # Errors
/// Those of the database.
pub fn left_behind(db: &Connection) -> rusqlite::Result<Vec<Claim>> {
    let mut query = db.prepare_cached(
        "SELECT runs.no, schedules.schedule_id, runs.at FROM schedule_runs AS runs
         JOIN schedules ON schedules.no = runs.schedule WHERE runs.state = 'claimed' ORDER BY runs.no",
    )?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let open: Vec<(i64, String, f64)> = query.query_map([], read)?.collect::<rusqlite::Result<_>>()?;
    let mut claims = Vec::new();
    for (run, schedule_id, at) in open {
        let mut turn = db.prepare_cached(
            "SELECT sessions.session_id, turns.turn_id FROM turns JOIN sessions ON sessions.no = turns.session
             WHERE turns.schedule_id = ?1 AND turns.queued_at >= ?2
               AND NOT EXISTS (SELECT 1 FROM schedule_runs WHERE schedule_runs.turn_id = turns.turn_id)
             ORDER BY turns.no LIMIT 1",
        )?;
        let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        match turn.query_row((&schedule_id, at), read).optional()? {
            Some((session_id, turn_id)) => started(db, run, &session_id, &turn_id)?,
            None => claims.extend(rows::find(db, &schedule_id)?.map(|schedule| Claim { run, schedule })),
        }
    }
    Ok(claims)
}

/// The latest runs of a schedule, newest first, as callers see them.
///
/// # Errors
/// Those of the database.
pub fn latest(db: &Connection, schedule: i64, most: i64) -> rusqlite::Result<Vec<Value>> {
    let mut query = db.prepare_cached(
        "SELECT slot, at, state, session_id, turn_id, reason FROM schedule_runs WHERE schedule = ?1
         ORDER BY no DESC LIMIT ?2",
    )?;
    let read = |row: &Row<'_>| {
        let mut view = Map::new();
        view.insert("at".to_owned(), json!(row.get::<_, f64>("at")?));
        view.insert("state".to_owned(), row.get::<_, String>("state")?.into());
        if let Some(slot) = row.get::<_, Option<f64>>("slot")? {
            view.insert("slot".to_owned(), json!(slot));
        }
        for name in ["session_id", "turn_id", "reason"] {
            if let Some(text) = row.get::<_, Option<String>>(name)? {
                view.insert(name.to_owned(), text.into());
            }
        }
        Ok(Value::Object(view))
    };
    query.query_map((schedule, most), read)?.collect()
}

fn trim(db: &Connection, schedule: i64) -> rusqlite::Result<()> {
    db.prepare_cached(
        "DELETE FROM schedule_runs WHERE schedule = ?1 AND state NOT IN ('claimed', 'started') AND no <=
            (SELECT no FROM schedule_runs WHERE schedule = ?1 ORDER BY no DESC LIMIT 1 OFFSET ?2)",
    )?
    .execute((schedule, KEPT))
    .map(drop)
}

#[cfg(test)]
mod tests;
