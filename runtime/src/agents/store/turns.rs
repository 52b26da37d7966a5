//! Rows of turns.

use super::sessions::{json, object, text};
use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use serde_json::{Map, Value};

/// A turn as it is stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnRow {
    /// Its number in the database; turns of a session are listed by it.
    pub no: i64,
    /// `trn_…`
    pub turn_id: String,
    /// The number of its session.
    pub session: i64,
    /// `queued`, `running`, `waiting`, `completed`, `cancelled`, `failed` or `interrupted`.
    pub state: String,
    /// Place in the queue, from low to high.
    pub position: f64,
    /// The identity that asked.
    pub owner: String,
    /// Content blocks.
    pub prompt: Value,
    /// The beginning of its text.
    pub prompt_preview: String,
    /// Why it ended: a word of the protocol, or `timeout`, `agent_exit`, `server_restart`, `forced`, `budget`.
    pub stop_reason: Option<String>,
    /// What went wrong.
    pub error: Option<Value>,
    /// What it used.
    pub usage: Option<Value>,
    /// The checkpoint that was taken before it.
    pub checkpoint_before: Option<String>,
    /// The schedule that asked.
    pub schedule_id: Option<String>,
    /// What only the turn itself reads.
    pub details: Map<String, Value>,
    /// Epoch seconds.
    pub queued_at: f64,
    /// Epoch seconds.
    pub started_at: Option<f64>,
    /// Epoch seconds.
    pub ended_at: Option<f64>,
    /// The first event that belongs to it.
    pub first_seq: Option<i64>,
    /// The last one.
    pub last_seq: Option<i64>,
}

/// The columns that [`TurnRow::read`] reads, for queries of one's own.
pub const COLUMNS: &str = "no, turn_id, session, state, position, owner, prompt, prompt_preview, stop_reason, error, usage, \
    checkpoint_before, schedule_id, details, queued_at, started_at, ended_at, first_seq, last_seq";

impl TurnRow {
    /// Reads a row of [`COLUMNS`].
    ///
    /// # Errors
    /// That a column is missing or of another type.
    pub fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            no: row.get("no")?,
            turn_id: row.get("turn_id")?,
            session: row.get("session")?,
            state: row.get("state")?,
            position: row.get("position")?,
            owner: row.get("owner")?,
            prompt: json(row, "prompt")?.unwrap_or_default(),
            prompt_preview: row.get("prompt_preview")?,
            stop_reason: row.get("stop_reason")?,
            error: json(row, "error")?,
            usage: json(row, "usage")?,
            checkpoint_before: row.get("checkpoint_before")?,
            schedule_id: row.get("schedule_id")?,
            details: object(row, "details")?,
            queued_at: row.get("queued_at")?,
            started_at: row.get("started_at")?,
            ended_at: row.get("ended_at")?,
            first_seq: row.get("first_seq")?,
            last_seq: row.get("last_seq")?,
        })
    }
}

/// A turn by its id.
///
/// # Errors
/// Those of the database.
pub fn find(db: &Connection, turn_id: &str) -> rusqlite::Result<Option<TurnRow>> {
    let sql = format!("SELECT {COLUMNS} FROM turns WHERE turn_id = ?1");
    db.prepare_cached(&sql)?.query_row([turn_id], TurnRow::read).optional()
}

/// Stores a new turn, yielding its number. `no` and the log's columns of the row are not looked at.
///
/// # Errors
/// Those of the database.
pub fn insert(db: &Connection, row: &TurnRow) -> rusqlite::Result<i64> {
    let mut insert = db.prepare_cached(
        "INSERT INTO turns (turn_id, session, state, position, owner, prompt, prompt_preview, stop_reason, error, usage,
            checkpoint_before, schedule_id, details, queued_at, started_at, ended_at)
         VALUES (:turn_id, :session, :state, :position, :owner, :prompt, :prompt_preview, :stop_reason, :error, :usage,
            :checkpoint_before, :schedule_id, :details, :queued_at, :started_at, :ended_at)",
    )?;
    insert.execute(named_params! {
        ":turn_id": row.turn_id,
        ":session": row.session,
        ":state": row.state,
        ":position": row.position,
        ":owner": row.owner,
        ":prompt": row.prompt.to_string(),
        ":prompt_preview": row.prompt_preview,
        ":stop_reason": row.stop_reason,
        ":error": row.error.as_ref().map(Value::to_string),
        ":usage": row.usage.as_ref().map(Value::to_string),
        ":checkpoint_before": row.checkpoint_before,
        ":schedule_id": row.schedule_id,
        ":details": text(&row.details),
        ":queued_at": row.queued_at,
        ":started_at": row.started_at,
        ":ended_at": row.ended_at,
    })?;
    Ok(db.last_insert_rowid())
}

/// Writes back everything that can change but the log's own columns. Whether it was there.
///
/// # Errors
/// Those of the database.
pub fn update(db: &Connection, row: &TurnRow) -> rusqlite::Result<bool> {
    let mut update = db.prepare_cached(
        "UPDATE turns SET state = :state, position = :position, stop_reason = :stop_reason, error = :error,
            usage = :usage, checkpoint_before = :checkpoint_before, details = :details, started_at = :started_at,
            ended_at = :ended_at
         WHERE turn_id = :turn_id",
    )?;
    let changed = update.execute(named_params! {
        ":turn_id": row.turn_id,
        ":state": row.state,
        ":position": row.position,
        ":stop_reason": row.stop_reason,
        ":error": row.error.as_ref().map(Value::to_string),
        ":usage": row.usage.as_ref().map(Value::to_string),
        ":checkpoint_before": row.checkpoint_before,
        ":details": text(&row.details),
        ":started_at": row.started_at,
        ":ended_at": row.ended_at,
    })?;
    Ok(changed > 0)
}
