//! Plans in the store, every version.

use super::{Entry, Plan, Source};
use rusqlite::{Connection, OptionalExtension as _, Row};

/// Versions that are kept of one session.
const KEPT: i64 = 200;

fn read(row: &Row<'_>) -> rusqlite::Result<Plan> {
    let (entries, source): (String, String) = (row.get("entries")?, row.get("source")?);
    Ok(Plan {
        entries: serde_json::from_str::<Vec<Entry>>(&entries).unwrap_or_default(),
        source: if source == "plan" { Source::Plan } else { Source::TodoTool },
        updated_at: row.get("updated_at")?,
    })
}

/// Stores a version, unless it is a to-do tool's and the session has a plan of its own. Whether it was stored.
///
/// # Errors
/// Those of the database.
pub fn push(db: &Connection, session: i64, plan: &Plan) -> rusqlite::Result<bool> {
    let last = latest(db, session)?;
    let outranked = |last: &Plan| last.source == Source::Plan && plan.source == Source::TodoTool;
    if last.as_ref().is_some_and(|last| outranked(last) || last.entries == plan.entries) {
        return Ok(false);
    }
    let source = if plan.source == Source::Plan { "plan" } else { "todo_tool" };
    let entries = serde_json::to_string(&plan.entries).unwrap_or_default();
    let version: i64 = db
        .prepare_cached("SELECT coalesce(max(version), 0) + 1 FROM plans WHERE session = ?1")?
        .query_row([session], |row| row.get(0))?;
    db.prepare_cached("INSERT INTO plans VALUES (?1, ?2, ?3, ?4, ?5)")?.execute((
        session,
        version,
        entries,
        source,
        plan.updated_at,
    ))?;
    db.prepare_cached("DELETE FROM plans WHERE session = ?1 AND version <= ?2")?
        .execute((session, version - KEPT))?;
    Ok(true)
}

/// The plan that holds.
///
/// # Errors
/// Those of the database.
pub fn latest(db: &Connection, session: i64) -> rusqlite::Result<Option<Plan>> {
    db.prepare_cached("SELECT * FROM plans WHERE session = ?1 ORDER BY version DESC LIMIT 1")?
        .query_row([session], read)
        .optional()
}

/// Every version before the one that holds, the newest first.
///
/// # Errors
/// Those of the database.
pub fn history(db: &Connection, session: i64) -> rusqlite::Result<Vec<Plan>> {
    let mut query =
        db.prepare_cached("SELECT * FROM plans WHERE session = ?1 ORDER BY version DESC LIMIT -1 OFFSET 1")?;
    query.query_map([session], read)?.collect()
}
