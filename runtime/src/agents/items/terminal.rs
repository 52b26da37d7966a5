//! What the agent's terminals printed, cut from the front.

use super::reduce::key_of;
use super::working::Working;
use crate::agents::cut;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::{Value, json};

/// Most output that is kept of one terminal.
const MOST: usize = 256 * 1024;

/// A terminal as far as it has been seen.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Terminal {
    output: String,
    truncated: bool,
    exit_code: Option<i64>,
    signal: Option<String>,
}

impl Terminal {
    /// As clients see it.
    pub(super) fn shown(&self) -> Value {
        let mut shown = json!({"output": self.output, "truncated": self.truncated});
        if let Some(members) = shown.as_object_mut() {
            if let Some(code) = self.exit_code {
                members.insert("exit_code".to_owned(), code.into());
            }
            if let Some(signal) = &self.signal {
                members.insert("signal".to_owned(), signal.clone().into());
            }
        }
        shown
    }

    fn print(&mut self, text: &str) {
        self.output.push_str(text);
        if self.output.len() > MOST {
            self.output = cut::tail(&self.output, MOST).to_owned();
            self.truncated = true;
        }
    }
}

impl Working<'_> {
    /// An event of a terminal: `data` that it printed, or how it exited.
    pub(super) fn terminal(&mut self, data: &Value) -> rusqlite::Result<()> {
        let Some(id) = key_of(data, "terminal_id", "terminalId") else { return Ok(()) };
        if !self.terminals.contains_key(id) {
            let held = find(self.db, self.session, id)?.unwrap_or_default();
            self.terminals.insert(id.to_owned(), held);
        }
        let Some(terminal) = self.terminals.get_mut(id) else { return Ok(()) };
        if let Some(text) = data.get("data").and_then(Value::as_str) {
            terminal.print(text);
        }
        if let Some(code) = data.get("exit_code").and_then(Value::as_i64) {
            terminal.exit_code = Some(code);
        }
        if let Some(signal) = data.get("signal") {
            terminal.signal =
                signal.as_str().map(str::to_owned).or_else(|| Some(signal.as_i64()?.to_string()));
        }
        Ok(())
    }
}

pub(super) fn find(db: &Connection, session: i64, id: &str) -> rusqlite::Result<Option<Terminal>> {
    let mut query = db.prepare_cached(
        "SELECT output, truncated, exit_code, signal FROM terminals WHERE session = ?1 AND terminal_id = ?2",
    )?;
    let read = query.query_row(params![session, id], |row| {
        Ok(Terminal {
            output: row.get(0)?,
            truncated: row.get(1)?,
            exit_code: row.get(2)?,
            signal: row.get(3)?,
        })
    });
    read.optional()
}

pub(super) fn store(db: &Connection, session: i64, id: &str, terminal: &Terminal) -> rusqlite::Result<()> {
    let Terminal { output, truncated, exit_code, signal } = terminal;
    db.prepare_cached(
        "INSERT OR REPLACE INTO terminals (session, terminal_id, output, truncated, exit_code, signal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![session, id, output, truncated, exit_code, signal])?;
    Ok(())
}
