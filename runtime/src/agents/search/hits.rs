//! Asking the index.

use super::query::Query;
use super::snippet::snippet;
use super::words::MOST;
use crate::agents::items::{self, ItemKind};
use rusqlite::{Connection, ToSql};
use std::fmt::Write as _;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The words.
    pub query: Query,
    /// Whether what came out of files is looked at too.
    pub files: bool,
    /// Only these kinds; all where there are none.
    pub kinds: Vec<ItemKind>,
    /// Only of this agent.
    pub agent_id: Option<String>,
    /// Only of this session.
    pub session_id: Option<String>,
    /// Only of sessions that work here.
    pub cwd: Option<String>,
    /// Only items that began then or later, in epoch seconds.
    pub from: Option<f64>,
    /// Only items that began before.
    pub to: Option<f64>,
    /// Hits to leave out: those of earlier pages.
    pub skip: i64,
    /// Most hits.
    pub limit: i64,
}

/// An item that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its number.
    pub no: i64,
    /// The number of its session.
    pub session: i64,
    /// Its session.
    pub session_id: String,
    /// Its turn.
    pub turn_id: Option<String>,
    /// The item.
    pub item_id: String,
    /// What it is.
    pub kind: String,
    /// When it began, in epoch seconds.
    pub ts: f64,
    /// The place in which it was found.
    pub snippet: String,
    /// How well it fits; more is better.
    pub score: f64,
}

/// Items that are ranked: of those that fit, the newest so many. A word that is in every item would otherwise cost as
/// much as there are items.
pub const RANKED: i64 = 10_000;

/// The best hits, best first: of the newest [`RANKED`] that fit, by how often the words occur in an item against its
/// length and how rare they are in all (BM25); of equals the newest first.
///
/// # Errors
/// Those of the database.
pub fn search(db: &Connection, asked: &Asked) -> rusqlite::Result<Vec<Hit>> {
    let columns = if asked.files { "" } else { "{title text} : " };
    let expression = format!("{columns}({})", asked.query.expression);
    let (mut conditions, mut values) = (String::new(), vec![&expression as &dyn ToSql]);
    if let Some(agent_id) = &asked.agent_id {
        values.push(agent_id);
        let _ = write!(conditions, " AND sessions.agent_id = ?{}", values.len());
    }
    if let Some(session_id) = &asked.session_id {
        values.push(session_id);
        let number = format!("(SELECT no FROM sessions WHERE session_id = ?{})", values.len());
        // Numbers of items rise with time, and the index need not look beyond those of the session.
        let _ = write!(
            conditions,
            " AND items.session = {number} AND items_fts.rowid BETWEEN (SELECT min(no) FROM items WHERE session = {number})
                AND (SELECT max(no) FROM items WHERE session = {number})"
        );
    }
    if let Some(cwd) = &asked.cwd {
        values.push(cwd);
        let _ = write!(conditions, " AND sessions.cwd = ?{}", values.len());
    }
    if let Some(from) = &asked.from {
        values.push(from);
        let _ = write!(conditions, " AND items.started_at >= ?{}", values.len());
    }
    if let Some(to) = &asked.to {
        values.push(to);
        let _ = write!(conditions, " AND items.started_at < ?{}", values.len());
    }
    if !asked.kinds.is_empty() {
        // Names of ours, not of a caller.
        let names: Vec<String> = asked.kinds.iter().map(|kind| format!("'{}'", kind.as_str())).collect();
        let _ = write!(conditions, " AND items.kind IN ({})", names.join(", "));
    }
    values.extend([&RANKED as &dyn ToSql, &asked.limit, &asked.skip]);
    let (ranked, limit, skip) = (values.len() - 2, values.len() - 1, values.len());
    // The index walks from the newest on and stops early. Crossed joins keep the order in which tables are looked at.
    let narrowed = if conditions.is_empty() { "" } else { ITEMS_AND_SESSIONS };
    let sql = format!(
        "SELECT best.no, best.score, {SHOWN} FROM
            (SELECT items_fts.rowid AS no, items_fts.rank AS score FROM items_fts {narrowed}
             WHERE items_fts MATCH ?1{conditions} ORDER BY items_fts.rowid DESC LIMIT ?{ranked}) best
         CROSS JOIN items ON items.no = best.no CROSS JOIN sessions ON sessions.no = items.session
         ORDER BY best.score, best.no DESC LIMIT ?{limit} OFFSET ?{skip}"
    );
    let mut query = db.prepare_cached(&sql)?;
    let mut rows = query.query(values.as_slice())?;
    let mut hits = Vec::new();
    while let Some(row) = rows.next()? {
        let (no, rank): (i64, f64) = (row.get(0)?, row.get(1)?);
        let kind: String = row.get(6)?;
        let title: Option<String> = row.get(8)?;
        let text = items::findable(db, no, asked.files, MOST)?;
        let said = [title.unwrap_or_default(), text].join("\n");
        hits.push(Hit {
            no,
            session: row.get(2)?,
            session_id: row.get(3)?,
            turn_id: row.get(4)?,
            item_id: row.get(5)?,
            kind,
            ts: row.get(7)?,
            snippet: snippet(&said, &asked.query.wanted),
            score: -rank,
        });
    }
    Ok(hits)
}

const ITEMS_AND_SESSIONS: &str =
    "CROSS JOIN items ON items.no = items_fts.rowid CROSS JOIN sessions ON sessions.no = items.session";
const SHOWN: &str = "items.session, sessions.session_id, items.turn_id, items.item_id, items.kind, items.started_at, items.title";
