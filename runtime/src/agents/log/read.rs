//! Reading the log from disk.

use super::event::raw;
use super::{Event, Kind};
use rusqlite::{Connection, Row, ToSql};
use std::fmt::Write as _;
use std::sync::Arc;

/// What of a session's log, or of all logs, is asked for.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The number of the session; of all where there is none.
    pub session: Option<i64>,
    /// Only events behind this number: `seq` of a session, `gseq` of all.
    pub after: i64,
    /// Only events before this number.
    pub before: Option<i64>,
    /// Only these kinds; all where there are none.
    pub kinds: Vec<Kind>,
    /// Only events of this turn.
    pub turn_id: Option<String>,
    /// Newest first.
    pub descending: bool,
    /// Most events.
    pub limit: usize,
    /// Most bytes; at least one event comes, however large it is.
    pub max_bytes: usize,
    /// Whether `raw` is wanted.
    pub raw: bool,
}

/// Reads events in the order of their numbers, and whether there are more.
///
/// # Errors
/// Those of the database.
pub fn list(db: &Connection, asked: &Asked) -> rusqlite::Result<(Vec<Event>, bool)> {
    let number = if asked.session.is_some() { "seq" } else { "gseq" };
    let raw_column = if asked.raw { "events.raw" } else { "NULL" };
    let mut sql = format!(
        "SELECT events.seq, events.gseq, events.ts, sessions.session_id, events.turn_id, events.kind, events.data,
            {raw_column} FROM events JOIN sessions ON sessions.no = events.session WHERE events.{number} > ?1"
    );
    let mut values: Vec<&dyn ToSql> = vec![&asked.after];
    if let Some(session) = &asked.session {
        values.push(session);
        let _ = write!(sql, " AND events.session = ?{}", values.len());
    }
    if let Some(before) = &asked.before {
        values.push(before);
        let _ = write!(sql, " AND events.{number} < ?{}", values.len());
    }
    if let Some(turn_id) = &asked.turn_id {
        values.push(turn_id);
        let _ = write!(sql, " AND events.turn_id = ?{}", values.len());
    }
    if !asked.kinds.is_empty() {
        // Names of ours, not of a caller.
        let names: Vec<String> = asked.kinds.iter().map(|kind| format!("'{}'", kind.as_str())).collect();
        let _ = write!(sql, " AND events.kind IN ({})", names.join(", "));
    }
    let order = if asked.descending { "DESC" } else { "ASC" };
    let _ = write!(sql, " ORDER BY events.{number} {order}");
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query(values.as_slice())?;
    let (mut events, mut bytes) = (Vec::new(), 0);
    let mut name: Option<Arc<str>> = None;
    while let Some(row) = rows.next()? {
        let event = event(row, &mut name, asked.raw)?;
        bytes += event.size();
        if events.len() >= asked.limit || (bytes > asked.max_bytes && !events.is_empty()) {
            return Ok((events, true));
        }
        events.push(event);
    }
    Ok((events, false))
}

fn event(row: &Row<'_>, name: &mut Option<Arc<str>>, wants_raw: bool) -> rusqlite::Result<Event> {
    let session_id: String = row.get(3)?;
    let session_id = match name {
        Some(name) if **name == *session_id => Arc::clone(name),
        _ => Arc::clone(name.insert(session_id.into())),
    };
    let kind: String = row.get(5)?;
    // A kind of a later version.
    let kind = Kind::from_name(&kind).unwrap_or(Kind::Ext);
    let data: String = row.get(6)?;
    let part = match row.get::<_, Option<String>>(7)? {
        None if wants_raw && kind == Kind::MessageChunk => back(&data),
        part => part,
    };
    Ok(Event {
        seq: row.get(0)?,
        gseq: row.get(1)?,
        ts: row.get(2)?,
        session_id,
        turn_id: row.get(4)?,
        kind,
        data: raw(data),
        raw: part.map(raw),
    })
}

/// The frame of a chunk whose data says all of it.
fn back(data: &str) -> Option<String> {
    super::update::back(&serde_json::from_str(data).ok()?).map(|update| update.to_string())
}

/// The oldest global number that is sure to be there, but for sessions that were deleted.
///
/// # Errors
/// Those of the database.
pub fn first_gseq(db: &Connection) -> rusqlite::Result<i64> {
    db.prepare_cached("SELECT value FROM counters WHERE name = 'first_gseq'")?.query_row([], |row| row.get(0))
}

/// The newest global number.
pub(super) fn last_gseq(db: &Connection) -> rusqlite::Result<i64> {
    db.prepare_cached("SELECT value FROM counters WHERE name = 'gseq'")?.query_row([], |row| row.get(0))
}
