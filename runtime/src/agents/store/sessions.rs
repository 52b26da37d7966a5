//! Rows of sessions.

use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use serde_json::{Map, Value};

/// A session as it is stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionRow {
    /// Its number in the database: what other tables refer to.
    pub no: i64,
    /// `ses_…`
    pub session_id: String,
    /// The agent of the catalogue.
    pub agent_id: String,
    /// The agent's own name of the conversation.
    pub native_session_id: Option<String>,
    /// The session that it was forked from.
    pub parent_id: Option<String>,
    /// The schedule that opened it.
    pub schedule_id: Option<String>,
    /// The identity that opened it.
    pub owner: String,
    /// `starting`, `idle`, `running`, `waiting`, `disconnected`, `closed` or `failed`.
    pub state: String,
    /// Where it works; absolute.
    pub cwd: String,
    /// What people call it.
    pub title: Option<String>,
    /// Texts by name.
    pub labels: Map<String, Value>,
    /// Whether lists leave it out unless asked.
    pub archived: bool,
    /// Rises with every change by a caller.
    pub version: i64,
    /// What only the session itself reads: policy, options, capabilities, budget.
    pub details: Map<String, Value>,
    /// Epoch seconds.
    pub created_at: f64,
    /// Epoch seconds.
    pub updated_at: f64,
    /// Epoch seconds.
    pub closed_at: Option<f64>,
    /// The oldest event that is still there.
    pub first_seq: i64,
    /// The newest event; 0 where there is none.
    pub last_seq: i64,
}

/// The columns that [`SessionRow::read`] reads, for queries of one's own.
pub const COLUMNS: &str = "no, session_id, agent_id, native_session_id, parent_id, schedule_id, owner, state, cwd, \
    title, labels, archived, version, details, created_at, updated_at, closed_at, first_seq, last_seq";

impl SessionRow {
    /// Reads a row of [`COLUMNS`].
    ///
    /// # Errors
    /// That a column is missing or of another type.
    pub fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            no: row.get("no")?,
            session_id: row.get("session_id")?,
            agent_id: row.get("agent_id")?,
            native_session_id: row.get("native_session_id")?,
            parent_id: row.get("parent_id")?,
            schedule_id: row.get("schedule_id")?,
            owner: row.get("owner")?,
            state: row.get("state")?,
            cwd: row.get("cwd")?,
            title: row.get("title")?,
            labels: object(row, "labels")?,
            archived: row.get("archived")?,
            version: row.get("version")?,
            details: object(row, "details")?,
            created_at: row.get("created_at")?,
            updated_at: row.get("updated_at")?,
            closed_at: row.get("closed_at")?,
            first_seq: row.get("first_seq")?,
            last_seq: row.get("last_seq")?,
        })
    }
}

/// A session by its id.
///
/// # Errors
/// Those of the database.
pub fn find(db: &Connection, session_id: &str) -> rusqlite::Result<Option<SessionRow>> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE session_id = ?1");
    db.prepare_cached(&sql)?.query_row([session_id], SessionRow::read).optional()
}

/// The number of a session.
///
/// # Errors
/// Those of the database.
pub fn number(db: &Connection, session_id: &str) -> rusqlite::Result<Option<i64>> {
    let mut query = db.prepare_cached("SELECT no FROM sessions WHERE session_id = ?1")?;
    query.query_row([session_id], |row| row.get(0)).optional()
}

/// Stores a new session, yielding its number. `no`, `first_seq` and `last_seq` of the row are not looked at.
///
/// # Errors
/// Those of the database; a constraint where the id or the native conversation is there already.
pub fn insert(db: &Connection, row: &SessionRow) -> rusqlite::Result<i64> {
    let mut insert = db.prepare_cached(
        "INSERT INTO sessions (session_id, agent_id, native_session_id, parent_id, schedule_id, owner, state, cwd, title,
            labels, archived, version, details, created_at, updated_at, closed_at)
         VALUES (:session_id, :agent_id, :native_session_id, :parent_id, :schedule_id, :owner, :state, :cwd, :title,
            :labels, :archived, :version, :details, :created_at, :updated_at, :closed_at)",
    )?;
    insert.execute(named_params! {
        ":session_id": row.session_id,
        ":agent_id": row.agent_id,
        ":native_session_id": row.native_session_id,
        ":parent_id": row.parent_id,
        ":schedule_id": row.schedule_id,
        ":owner": row.owner,
        ":state": row.state,
        ":cwd": row.cwd,
        ":title": row.title,
        ":labels": text(&row.labels),
        ":archived": row.archived,
        ":version": row.version,
        ":details": text(&row.details),
        ":created_at": row.created_at,
        ":updated_at": row.updated_at,
        ":closed_at": row.closed_at,
    })?;
    Ok(db.last_insert_rowid())
}

/// Writes back everything that can change but the log's own columns. Whether it was there.
///
/// # Errors
/// Those of the database.
pub fn update(db: &Connection, row: &SessionRow) -> rusqlite::Result<bool> {
    let mut update = db.prepare_cached(
        "UPDATE sessions SET native_session_id = :native_session_id, state = :state, title = :title, labels = :labels,
            archived = :archived, version = :version, details = :details, updated_at = :updated_at,
            closed_at = :closed_at
         WHERE session_id = :session_id",
    )?;
    let changed = update.execute(named_params! {
        ":session_id": row.session_id,
        ":native_session_id": row.native_session_id,
        ":state": row.state,
        ":title": row.title,
        ":labels": text(&row.labels),
        ":archived": row.archived,
        ":version": row.version,
        ":details": text(&row.details),
        ":updated_at": row.updated_at,
        ":closed_at": row.closed_at,
    })?;
    Ok(changed > 0)
}

/// A JSON object of a column; what is none is empty.
pub(crate) fn object(row: &Row<'_>, column: &str) -> rusqlite::Result<Map<String, Value>> {
    let text: Option<String> = row.get(column)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// JSON of a column that may be absent; what is no JSON is absent.
pub(crate) fn json(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Value>> {
    let text: Option<String> = row.get(column)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

/// The text of a JSON object.
pub(crate) fn text(object: &Map<String, Value>) -> String {
    // Text keys and JSON values: writing them to memory cannot fail.
    serde_json::to_string(object).unwrap_or_default()
}
