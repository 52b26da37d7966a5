//! What callers see of an item. What came out of files is hidden from who may not read files.

use super::item::{Item, ItemKind};
use super::read::Whole;
use super::{terminal, tool};
use crate::agents::cut;
use rusqlite::Connection;
use serde_json::{Map, Value, json};

/// An item as lists show it. `text` is already cut to what was asked for.
#[must_use]
pub fn summary(item: &Item, body: &Map<String, Value>, text: &str, files: bool) -> Value {
    let mut shown = head(item, body);
    let hidden = item.kind == ItemKind::ToolCall && !files;
    if !text.is_empty() && !hidden {
        shown.insert("text".to_owned(), text.into());
    }
    if item.kind == ItemKind::Plan {
        shown.insert("entries".to_owned(), body.get("entries").cloned().unwrap_or_else(|| json!([])));
    }
    let whole = i64::try_from(text.len()).unwrap_or(i64::MAX) >= item.text_bytes;
    shown.insert("truncated".to_owned(), (!whole || hidden || is_cut(body)).into());
    Value::Object(shown)
}

/// An item in full, as far as `max_bytes` of text go.
///
/// # Errors
/// Those of the database.
pub fn full(
    db: &Connection,
    session: i64,
    (item, body, text): Whole,
    files: bool,
    max_bytes: usize,
) -> rusqlite::Result<Value> {
    let mut shown = head(&item, &body);
    let is_tool = item.kind == ItemKind::ToolCall;
    if is_tool && !files {
        shown.insert("content".to_owned(), json!([]));
        shown.insert("diffs".to_owned(), json!([]));
        shown.insert("truncated".to_owned(), true.into());
        return Ok(Value::Object(shown));
    }
    let mut rest = Rest { bytes: max_bytes, cut: is_cut(&body) };
    let content = match is_tool {
        true => body.get("content").cloned().unwrap_or_else(|| json!([])),
        false => Value::Array(blocks(&body, &text)),
    };
    shown.insert("content".to_owned(), rest.take(content));
    if !text.is_empty() {
        shown.insert("text".to_owned(), rest.take(text.into()));
    }
    for name in ["raw_input", "raw_output", "entries", "request", "answer"] {
        if let Some(value) = body.get(name) {
            shown.insert(name.to_owned(), rest.take(value.clone()));
        }
    }
    shown.insert("diffs".to_owned(), rest.take(Value::Array(tool::diffs(&body))));
    if let Some(id) = tool::terminal_id(&body) {
        // An agent may name a terminal that we never made.
        let terminal = terminal::find(db, session, id)?.map(|terminal| rest.take(terminal.shown()));
        shown.insert("terminal".to_owned(), terminal.unwrap_or_default());
    }
    shown.insert("truncated".to_owned(), rest.cut.into());
    Ok(Value::Object(shown))
}

fn head(item: &Item, body: &Map<String, Value>) -> Map<String, Value> {
    let mut shown = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            shown.insert(name.to_owned(), value);
        }
    };
    put("item_id", Some(item.item_id.as_str().into()));
    put("turn_id", Some(item.turn_id.as_deref().map_or(Value::Null, Into::into)));
    put("kind", Some(item.kind.as_str().into()));
    put("role", item.kind.role().map(Into::into));
    put("title", item.title.as_deref().map(Into::into));
    put("tool_kind", item.tool_kind.as_deref().map(Into::into));
    put("status", item.status.as_deref().map(Into::into));
    put(
        "locations",
        Some(body.get("locations").filter(|value| value.is_array()).cloned().unwrap_or_else(|| json!([]))),
    );
    put("started_at", Some(item.started_at.into()));
    put("ended_at", item.ended_at.map(Into::into));
    shown
}

fn is_cut(body: &Map<String, Value>) -> bool {
    body.contains_key("truncated")
}

/// The blocks of a message: its text, cut where other blocks came in between.
fn blocks(body: &Map<String, Value>, text: &str) -> Vec<Value> {
    let (mut blocks, mut begin) = (Vec::new(), 0);
    let mut say = |blocks: &mut Vec<Value>, end: usize| {
        if let Some(part) = text.get(begin..end).filter(|part| !part.is_empty()) {
            blocks.push(json!({"type": "text", "text": part}));
        }
        begin = begin.max(end);
    };
    for entry in body.get("content").and_then(Value::as_array).into_iter().flatten() {
        let at = entry.get("at").and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok());
        say(&mut blocks, at.unwrap_or_default());
        blocks.extend(entry.get("block").cloned());
    }
    say(&mut blocks, text.len());
    blocks
}

/// How much may still be shown.
struct Rest {
    bytes: usize,
    cut: bool,
}

impl Rest {
    /// Cuts texts that are beyond what may be shown.
    fn take(&mut self, value: Value) -> Value {
        match value {
            Value::String(mut text) => {
                if text.len() > self.bytes {
                    text.truncate(cut::head(&text, self.bytes).len());
                    self.cut = true;
                }
                self.bytes -= text.len();
                Value::String(text)
            }
            Value::Array(values) => Value::Array(values.into_iter().map(|value| self.take(value)).collect()),
            Value::Object(members) => {
                Value::Object(members.into_iter().map(|(name, value)| (name, self.take(value))).collect())
            }
            other => other,
        }
    }
}
