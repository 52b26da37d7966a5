//! What of an item can be found. Columns: titles and commands; what was said; what came out of files.

use crate::agents::cut;
use crate::agents::items::{self, ItemKind};
use crate::agents::store::sessions::object;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::{Map, Value};

/// Most text of one item that is made findable. It bounds what the index holds in memory while it takes an item in, some
/// 130 bytes for each word that is new in it: at most about 25 MiB, however much an agent says.
pub(super) const MOST: usize = 1 << 20;

/// Makes a closed item findable, in place of what it was before.
pub(in crate::agents) fn index(db: &Connection, no: i64) -> rusqlite::Result<()> {
    let mut query = db.prepare_cached("SELECT kind, title, body FROM items WHERE no = ?1")?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?, object(row, "body")?))
    };
    let Some((kind, title, body)) = query.query_row([no], read).optional()? else { return Ok(()) };
    let text = items::beginning(db, no, MOST)?;
    let title = title.unwrap_or_default();
    let (title, said, files) = match ItemKind::from_name(&kind) {
        Some(ItemKind::ToolCall) => {
            (items::named(&title, &body), String::new(), items::of_files(&body, text))
        }
        Some(ItemKind::Plan) => (title, entries(&body), String::new()),
        _ => (title, text, String::new()),
    };
    db.prepare_cached("DELETE FROM items_fts WHERE rowid = ?1")?.execute([no])?;
    db.prepare_cached("INSERT INTO items_fts (rowid, title, text, files) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![no, spaced(&title), spaced(&said), spaced(&files)])?;
    Ok(())
}

fn entries(body: &Map<String, Value>) -> String {
    let entries = body.get("entries").and_then(Value::as_array).into_iter().flatten();
    entries.filter_map(|entry| entry.get("content")?.as_str()).collect::<Vec<_>>().join("\n")
}

/// Text with blanks around every character of a script that writes none: each becomes a word of its own, and a word of
/// several is found as a phrase.
pub(super) fn spaced(text: &str) -> String {
    let text = cut::head(text, MOST);
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unspaced(character) {
            out.push(' ');
            out.push(character);
            out.push(' ');
        } else {
            out.push(character);
        }
    }
    out
}

/// Han, kana and their like.
pub(super) fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{0e00}'..='\u{0e7f}' | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}
