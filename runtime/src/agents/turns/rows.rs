//! Turns in the store: their order, their beginning and their end. What a turn used is written by the log itself.

use super::super::store::turns::{self, COLUMNS, TurnRow};
use rusqlite::{Connection, named_params};
use serde_json::Value;

/// How a turn ended.
#[derive(Debug, Clone)]
pub struct Ending {
    /// `completed`, `cancelled`, `failed` or `interrupted`.
    pub state: &'static str,
    /// The stop reason; none where the agent answered with a fault.
    pub reason: Option<String>,
    /// What went wrong.
    pub error: Option<Value>,
    /// Epoch seconds.
    pub at: f64,
    /// Whether its agent was killed for it.
    pub forced: bool,
}

/// Which turns a list shows.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this state.
    pub state: Option<String>,
    /// Behind this number.
    pub after: Option<i64>,
}

/// The ids of the turns of a session that wait, the next first.
///
/// # Errors
/// Those of the database.
pub fn waiting(db: &Connection, session: i64) -> rusqlite::Result<Vec<String>> {
    let mut query = db.prepare_cached(
        "SELECT turn_id FROM turns WHERE session = ?1 AND state = 'queued' ORDER BY position, no",
    )?;
    query.query_map([session], |row| row.get(0))?.collect()
}

/// The ids of the turns of a session that run or wait for somebody.
///
/// # Errors
/// Those of the database.
pub fn unfinished(db: &Connection, session: i64) -> rusqlite::Result<Vec<String>> {
    let mut query = db.prepare_cached(
        "SELECT turn_id FROM turns WHERE session = ?1 AND state IN ('running', 'waiting') ORDER BY no",
    )?;
    query.query_map([session], |row| row.get(0))?.collect()
}

/// Whether a turn of a session runs, waits for somebody or, unless the queue is held back, waits to run.
///
/// # Errors
/// Those of the database.
pub fn under_way(db: &Connection, session: i64, paused: bool) -> rusqlite::Result<bool> {
    let mut query = db.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM turns
         WHERE session = ?1 AND (state IN ('running', 'waiting') OR (state = 'queued' AND NOT ?2)))",
    )?;
    query.query_row((session, paused), |row| row.get(0))
}

/// Stores a turn behind all that wait, or before them.
///
/// # Errors
/// Those of the database.
pub fn insert(db: &Connection, mut row: TurnRow, first: bool) -> rusqlite::Result<i64> {
    let end = if first { "min(position) - 1" } else { "max(position) + 1" };
    let sql = format!("SELECT coalesce({end}, 0) FROM turns WHERE session = ?1 AND state = 'queued'");
    row.position = db.prepare_cached(&sql)?.query_row([row.session], |row| row.get(0))?;
    turns::insert(db, &row)
}

/// Puts the turns that wait into this order.
///
/// # Errors
/// Those of the database.
pub fn order(db: &Connection, order: &[String]) -> rusqlite::Result<()> {
    let mut update =
        db.prepare_cached("UPDATE turns SET position = ?2 WHERE turn_id = ?1 AND state = 'queued'")?;
    for (place, turn_id) in order.iter().enumerate() {
        update.execute((turn_id, i64::try_from(place).unwrap_or(i64::MAX)))?;
    }
    Ok(())
}

/// A turn begins.
///
/// # Errors
/// Those of the database.
pub fn start(db: &Connection, turn_id: &str, at: Option<f64>) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE turns SET state = 'running', started_at = ?2 WHERE turn_id = ?1")?
        .execute((turn_id, at))?;
    Ok(())
}

/// A turn waits for somebody, or goes on.
///
/// # Errors
/// Those of the database.
pub fn set_state(db: &Connection, turn_id: &str, state: &str) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE turns SET state = ?2 WHERE turn_id = ?1 AND state IN ('queued', 'running', 'waiting')",
    )?
    .execute((turn_id, state))?;
    Ok(())
}

/// A turn ends.
///
/// # Errors
/// Those of the database.
pub fn end(
    db: &Connection,
    turn_id: &str,
    ending: &Ending,
    checkpoint: Option<&str>,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE turns SET state = :state, stop_reason = :reason, error = :error, ended_at = :at,
            checkpoint_before = coalesce(:checkpoint, checkpoint_before),
            details = CASE WHEN :forced THEN json_set(details, '$.forced', json('true')) ELSE details END
         WHERE turn_id = :turn_id",
    )?
    .execute(named_params! {
        ":turn_id": turn_id,
        ":state": ending.state,
        ":reason": ending.reason,
        ":error": ending.error.as_ref().map(Value::to_string),
        ":at": ending.at,
        ":checkpoint": checkpoint,
        ":forced": ending.forced,
    })?;
    Ok(())
}

/// Turns of a session, the oldest first, at most `most`.
///
/// # Errors
/// Those of the database.
pub fn list(db: &Connection, session: i64, filter: &Filter, most: i64) -> rusqlite::Result<Vec<TurnRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM turns WHERE session = :session AND no > :after
            AND (:state IS NULL OR state = :state) ORDER BY no LIMIT :most"
    );
    let mut query = db.prepare_cached(&sql)?;
    let rows = query.query_map(
        named_params! {
            ":session": session,
            ":after": filter.after.unwrap_or(0),
            ":state": filter.state,
            ":most": most,
        },
        TurnRow::read,
    )?;
    rows.collect()
}
