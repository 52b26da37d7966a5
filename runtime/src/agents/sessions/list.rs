//! Lists of sessions, by filters, the newest or the oldest first. They need no agent.

use crate::agents::store::sessions::{COLUMNS, SessionRow};
use rusqlite::{Connection, named_params};
use std::collections::BTreeMap;

/// Which sessions a list shows.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this agent.
    pub agent_id: Option<String>,
    /// Of this state.
    pub state: Option<String>,
    /// Of this directory, exactly.
    pub cwd: Option<String>,
    /// With this label.
    pub label: Option<(String, String)>,
    /// Branched from this one.
    pub parent_id: Option<String>,
    /// Opened by this schedule.
    pub schedule_id: Option<String>,
    /// Archived or not.
    pub archived: Option<bool>,
    /// Behind this number, in the order of the list.
    pub after: Option<i64>,
    /// The oldest first.
    pub oldest_first: bool,
}

const WHERE: &str = "(:agent_id IS NULL OR agent_id = :agent_id) AND (:cwd IS NULL OR cwd = :cwd)
    AND (:parent_id IS NULL OR parent_id = :parent_id) AND (:schedule_id IS NULL OR schedule_id = :schedule_id)
    AND (:archived IS NULL OR archived = :archived)
    AND (:label IS NULL OR EXISTS (SELECT 1 FROM json_each(labels) WHERE key = :label AND value = :label_value))";

/// At most `most` sessions.
///
/// # Errors
/// Those of the database.
pub fn list(db: &Connection, filter: &Filter, most: i64) -> rusqlite::Result<Vec<SessionRow>> {
    let (beyond, order) = if filter.oldest_first { (">", "ASC") } else { ("<", "DESC") };
    let sql = format!(
        "SELECT {COLUMNS} FROM sessions WHERE {WHERE} AND (:state IS NULL OR state = :state)
            AND (:after IS NULL OR no {beyond} :after) ORDER BY no {order} LIMIT :most"
    );
    let mut query = db.prepare_cached(&sql)?;
    let (label, value) = filter.label.clone().unzip();
    let rows = query.query_map(
        named_params! {
            ":agent_id": filter.agent_id, ":cwd": filter.cwd, ":parent_id": filter.parent_id,
            ":schedule_id": filter.schedule_id, ":archived": filter.archived, ":label": label,
            ":label_value": value, ":state": filter.state, ":after": filter.after, ":most": most,
        },
        SessionRow::read,
    )?;
    rows.collect()
}

/// How many sessions of each state the filter lets through, whatever state it names.
///
/// # Errors
/// Those of the database.
pub fn counts(db: &Connection, filter: &Filter) -> rusqlite::Result<BTreeMap<String, i64>> {
    let sql = format!("SELECT state, count(*) FROM sessions WHERE {WHERE} GROUP BY state");
    let mut query = db.prepare_cached(&sql)?;
    let (label, value) = filter.label.clone().unzip();
    let rows = query.query_map(
        named_params! {
            ":agent_id": filter.agent_id, ":cwd": filter.cwd, ":parent_id": filter.parent_id,
            ":schedule_id": filter.schedule_id, ":archived": filter.archived, ":label": label,
            ":label_value": value,
        },
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    rows.collect()
}

/// The session that has adopted a conversation of an agent, if one has.
///
/// # Errors
/// Those of the database.
pub fn of_native(db: &Connection, agent_id: &str, native: &str) -> rusqlite::Result<Option<String>> {
    let mut query = db.prepare_cached(
        "SELECT session_id FROM sessions WHERE agent_id = ?1 AND native_session_id = ?2 AND state != 'closed' LIMIT 1",
    )?;
    let mut rows = query.query_map((agent_id, native), |row| row.get(0))?;
    rows.next().transpose()
}
