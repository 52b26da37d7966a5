//! Reading items.

use super::item::{COLUMNS, Item, ItemKind};
use super::tool;
use crate::agents::store::sessions::object;
use rusqlite::{Connection, OptionalExtension as _, ToSql, params};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Which items of a session are asked for.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only these kinds; all where there are none.
    pub kinds: Vec<ItemKind>,
    /// Only of this turn.
    pub turn_id: Option<String>,
    /// Only in this state.
    pub status: Option<String>,
    /// Only tool calls of this kind.
    pub tool_kind: Option<String>,
    /// Only behind this number.
    pub after: i64,
    /// Most items.
    pub limit: i64,
}

/// An item with its body and its text.
pub type Whole = (Item, Map<String, Value>, String);

/// The text of an item whose pieces may not have been put together yet.
const TEXT: &str = "items.text || coalesce((SELECT group_concat(item_parts.text, '' ORDER BY item_parts.part)
    FROM item_parts WHERE item_parts.item = items.no), '')";

/// Items in the order in which they began, with their bodies and the first `max_text` characters of their texts.
///
/// # Errors
/// Those of the database.
pub fn list(db: &Connection, session: i64, filter: &Filter, max_text: i64) -> rusqlite::Result<Vec<Whole>> {
    let mut sql = format!(
        "SELECT {COLUMNS}, items.body, substr({TEXT}, 1, ?3) AS said FROM items WHERE session = ?1 AND no > ?2"
    );
    let mut values: Vec<&dyn ToSql> = vec![&session, &filter.after, &max_text];
    let texts = [("turn_id", &filter.turn_id), ("status", &filter.status), ("tool_kind", &filter.tool_kind)];
    for (column, value) in &texts {
        if let Some(value) = value {
            values.push(value);
            let _ = write!(sql, " AND {column} = ?{}", values.len());
        }
    }
    if !filter.kinds.is_empty() {
        // Names of ours, not of a caller.
        let names: Vec<String> = filter.kinds.iter().map(|kind| format!("'{}'", kind.as_str())).collect();
        let _ = write!(sql, " AND kind IN ({})", names.join(", "));
    }
    values.push(&filter.limit);
    let _ = write!(sql, " ORDER BY no LIMIT ?{}", values.len());
    let mut query = db.prepare_cached(&sql)?;
    let read = |row: &rusqlite::Row<'_>| Ok((Item::read(row)?, object(row, "body")?, row.get("said")?));
    query.query_map(values.as_slice(), read)?.collect()
}

/// One item with its body and its text.
///
/// # Errors
/// Those of the database.
pub fn find(db: &Connection, session: i64, item_id: &str) -> rusqlite::Result<Option<Whole>> {
    let sql = format!(
        "SELECT {COLUMNS}, items.body, {TEXT} AS said FROM items WHERE session = ?1 AND item_id = ?2"
    );
    let mut query = db.prepare_cached(&sql)?;
    let read = |row: &rusqlite::Row<'_>| Ok((Item::read(row)?, object(row, "body")?, row.get("said")?));
    query.query_row(params![session, item_id], read).optional()
}

/// The beginning of the text of an item, at least `most` bytes where there are so many; no more of it is read than that
/// takes.
pub(in crate::agents) fn beginning(db: &Connection, no: i64, most: usize) -> rusqlite::Result<String> {
    let mut query = db.prepare_cached("SELECT text FROM items WHERE no = ?1")?;
    let mut text: String = query.query_row([no], |row| row.get(0))?;
    let mut query = db.prepare_cached("SELECT text FROM item_parts WHERE item = ?1 ORDER BY part")?;
    let mut pieces = query.query([no])?;
    while text.len() < most
        && let Some(piece) = pieces.next()?
    {
        text.push_str(piece.get_ref(0)?.as_str()?);
    }
    Ok(text)
}

/// The text in which an item was found, as far as the caller may see it: its beginning, as [`beginning`].
pub(in crate::agents) fn findable(
    db: &Connection,
    no: i64,
    files: bool,
    most: usize,
) -> rusqlite::Result<String> {
    let mut query = db.prepare_cached("SELECT kind, body FROM items WHERE no = ?1")?;
    let (kind, body) = query.query_row([no], |row| Ok((row.get::<_, String>(0)?, object(row, "body")?)))?;
    Ok(match ItemKind::from_name(&kind) {
        Some(ItemKind::ToolCall) if files => {
            [tool::named("", &body), tool::of_files(&body, beginning(db, no, most)?)].join("\n")
        }
        Some(ItemKind::ToolCall) => tool::named("", &body),
        Some(ItemKind::Plan) => {
            let entries = body.get("entries").and_then(Value::as_array).into_iter().flatten();
            entries.filter_map(|entry| entry.get("content")?.as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => beginning(db, no, most)?,
    })
}

/// What the agent said in a turn, its messages one after another.
///
/// # Errors
/// Those of the database.
pub fn turn_text(db: &Connection, session: i64, turn_id: &str) -> rusqlite::Result<String> {
    let sql = format!(
        "SELECT {TEXT} FROM items WHERE session = ?1 AND turn_id = ?2 AND kind = 'agent_message' ORDER BY no"
    );
    let mut query = db.prepare_cached(&sql)?;
    let texts = query.query_map(params![session, turn_id], |row| row.get(0))?;
    Ok(texts.collect::<rusqlite::Result<Vec<String>>>()?.join("\n\n"))
}

/// How many tool calls of a turn are in which state.
///
/// # Errors
/// Those of the database.
pub fn tool_counts(db: &Connection, session: i64, turn_id: &str) -> rusqlite::Result<BTreeMap<String, i64>> {
    let mut query = db.prepare_cached(
        "SELECT coalesce(status, 'pending'), count(*) FROM items
         WHERE session = ?1 AND turn_id = ?2 AND kind = 'tool_call' GROUP BY 1",
    )?;
    query.query_map(params![session, turn_id], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// An item beside another.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbour {
    /// Its head.
    pub item: Item,
    /// The beginning of its text.
    pub text: String,
}

/// The items around one: before it, and behind it, nearest ones, in the order in which they began.
///
/// # Errors
/// Those of the database.
pub fn neighbours(
    db: &Connection,
    session: i64,
    no: i64,
    count: i64,
    max_text: i64,
) -> rusqlite::Result<[Vec<Neighbour>; 2]> {
    let read = |row: &rusqlite::Row<'_>| Ok(Neighbour { item: Item::read(row)?, text: row.get("said")? });
    let side = |compare: &str, order: &str| {
        let sql = format!(
            "SELECT {COLUMNS}, substr({TEXT}, 1, ?4) AS said FROM items
             WHERE session = ?1 AND no {compare} ?2 ORDER BY no {order} LIMIT ?3"
        );
        let mut query = db.prepare_cached(&sql)?;
        query.query_map(params![session, no, count, max_text], read)?.collect::<rusqlite::Result<Vec<_>>>()
    };
    let (mut before, after) = (side("<", "DESC")?, side(">", "ASC")?);
    before.reverse();
    Ok([before, after])
}
