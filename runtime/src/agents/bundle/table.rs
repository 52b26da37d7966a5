//! Which columns of which tables travel, and rows as lines of JSON.

use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, Row};
use serde_json::{Map, Value};

/// A table whose rows belong to a session.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    columns: &'static [&'static str],
    /// Where the rows come from, with `?1` for the session.
    from: &'static str,
}

/// In the order in which they are put back.
pub(super) const TABLES: [&Table; 6] = [&TURNS, &EVENTS, &ITEMS, &TERMINALS, &ARTIFACTS, &USAGE];

pub(super) const TURNS: Table = Table {
    name: "turns",
    columns: &[
        "turn_id",
        "state",
        "position",
        "owner",
        "prompt",
        "prompt_preview",
        "stop_reason",
        "error",
        "usage",
        "checkpoint_before",
        "details",
        "queued_at",
        "started_at",
        "ended_at",
        "first_seq",
        "last_seq",
    ],
    from: "turns WHERE session = ?1 ORDER BY no",
};

pub(super) const EVENTS: Table = Table {
    name: "events",
    columns: &["seq", "ts", "turn_id", "kind", "data", "raw"],
    from: "events WHERE session = ?1 ORDER BY seq",
};

pub(super) const ITEMS: Table = Table {
    name: "items",
    columns: &[
        "item_id",
        "turn_id",
        "kind",
        "key",
        "title",
        "tool_kind",
        "status",
        "text",
        "text_bytes",
        "body",
        "first_seq",
        "last_seq",
        "started_at",
        "ended_at",
    ],
    // The text of an open item is in pieces.
    from: "(SELECT no, item_id, turn_id, kind, key, title, tool_kind, status, text || coalesce((SELECT
        group_concat(item_parts.text, '' ORDER BY part) FROM item_parts WHERE item = items.no), '') AS text, text_bytes, body,
        first_seq, last_seq, started_at, ended_at FROM items WHERE session = ?1) ORDER BY no",
};

const TERMINALS: Table = Table {
    name: "terminals",
    columns: &["terminal_id", "output", "truncated", "exit_code", "signal"],
    from: "terminals WHERE session = ?1 ORDER BY terminal_id",
};

pub(super) const ARTIFACTS: Table = Table {
    name: "artifacts",
    columns: &["artifact_id", "turn_id", "name", "mime_type", "bytes", "sha256", "source", "created_at"],
    from: "artifacts WHERE session = ?1 ORDER BY no",
};

const USAGE: Table = Table {
    name: "usage",
    columns: &[
        "turn_id",
        "at",
        "final",
        "input_tokens",
        "output_tokens",
        "thought_tokens",
        "cached_read_tokens",
        "cached_write_tokens",
        "cost_before",
        "cost_total",
        "currency",
        "context_used",
        "context_size",
    ],
    from: "usage WHERE session = ?1 ORDER BY turn_id",
};

impl Table {
    /// The entry of the archive.
    pub(super) fn entry(&self) -> String {
        format!("{}.jsonl", self.name)
    }

    /// Every row, in order.
    pub(super) fn rows(&self, db: &Connection, session: i64) -> rusqlite::Result<Vec<Map<String, Value>>> {
        let mut query = db.prepare(&format!("SELECT {} FROM {}", self.columns.join(", "), self.from))?;
        query.query_map([session], |row| self.row(row))?.collect()
    }

    fn row(&self, row: &Row<'_>) -> rusqlite::Result<Map<String, Value>> {
        let mut members = Map::new();
        for (at, column) in self.columns.iter().enumerate() {
            let value = match row.get_ref(at)? {
                ValueRef::Null | ValueRef::Blob(_) => continue,
                ValueRef::Integer(number) => number.into(),
                ValueRef::Real(number) => number.into(),
                ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
            };
            members.insert((*column).to_owned(), value);
        }
        Ok(members)
    }

    /// Puts a row in, with the columns of `more` beside its own. What the row holds beyond the columns is not looked at, and
    /// what it lacks gets the table's own value.
    pub(super) fn insert(
        &self,
        db: &Connection,
        row: &Map<String, Value>,
        more: &[(&str, i64)],
    ) -> rusqlite::Result<i64> {
        let held = self.columns.iter().filter_map(|column| Some((*column, row.get(*column)?)));
        let held: Vec<(&str, &Value)> = held.filter(|(_, value)| !value.is_null()).collect();
        let names: Vec<&str> =
            held.iter().map(|(name, _)| *name).chain(more.iter().map(|(name, _)| *name)).collect();
        let places: Vec<String> = (1..=names.len()).map(|at| format!("?{at}")).collect();
        let sql = format!("INSERT INTO {} ({}) VALUES ({})", self.name, names.join(", "), places.join(", "));
        let values = held.iter().map(|(_, value)| sql_value(value));
        let values = values.chain(more.iter().map(|(_, number)| Sql::Integer(*number)));
        db.prepare_cached(&sql)?.execute(rusqlite::params_from_iter(values))?;
        Ok(db.last_insert_rowid())
    }
}

/// The tables are strict: what is of the wrong type does not go in.
fn sql_value(value: &Value) -> Sql {
    match value {
        Value::Null => Sql::Null,
        Value::Bool(flag) => Sql::Integer((*flag).into()),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Sql::Integer(whole),
            None => Sql::Real(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Sql::Text(text.clone()),
        other => Sql::Text(other.to_string()),
    }
}
