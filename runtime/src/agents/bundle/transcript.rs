//! A session as text, for people: Markdown, or its items as JSON.

use crate::agents::items::{self, Filter, ItemKind, Whole};
use crate::agents::store::sessions::SessionRow;
use rusqlite::Connection;
use serde_json::{Map, Value, json as value};
use std::fmt::Write as _;

/// What of a session is shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shape {
    /// Whether what the agent thought is.
    pub thoughts: bool,
    /// Whether what tools were given and gave is.
    pub tool_output: bool,
}

/// A session as Markdown.
///
/// # Errors
/// Those of the database.
pub fn markdown(db: &Connection, session: &SessionRow, shape: Shape) -> rusqlite::Result<String> {
    let title = line(session.title.as_deref().unwrap_or(&session.session_id));
    let (id, agent, cwd) = (&session.session_id, &session.agent_id, &session.cwd);
    let mut out = format!("# {title}\n\n- session: `{id}`\n- agent: `{agent}`\n- directory: `{cwd}`\n");
    let mut turn: Option<String> = None;
    for (item, body, text) in shown(db, session, shape)? {
        if item.turn_id != turn {
            turn.clone_from(&item.turn_id);
            out.push_str("\n---\n");
        }
        let status = item.status.as_deref().unwrap_or("pending");
        let title = line(item.title.as_deref().unwrap_or(item.kind.as_str()));
        let text = text.trim_end();
        // Writing to memory cannot fail.
        let _ = match item.kind {
            ItemKind::UserMessage => write!(out, "\n## User\n\n{text}\n"),
            ItemKind::AgentMessage => write!(out, "\n## Agent\n\n{text}\n"),
            ItemKind::Thought => write!(out, "\n> {}\n", text.replace('\n', "\n> ")),
            ItemKind::ToolCall if shape.tool_output && !text.is_empty() => {
                let fence = fence(text);
                write!(out, "\n**{title}** ({status})\n\n{fence}\n{text}\n{fence}\n")
            }
            ItemKind::ToolCall => write!(out, "\n**{title}** ({status})\n"),
            ItemKind::Plan => write!(out, "\n### Plan\n\n{}", entries(&body)),
            ItemKind::Question | ItemKind::Permission => {
                write!(out, "\n_{}: {title} ({status})_\n", item.kind.as_str())
            }
        };
    }
    Ok(out)
}

/// A session as JSON.
///
/// # Errors
/// Those of the database.
pub fn json(db: &Connection, session: &SessionRow, shape: Shape) -> rusqlite::Result<String> {
    let items = shown(db, session, shape)?.into_iter().map(|whole| match shape.tool_output {
        true => items::full(db, session.no, whole, true, usize::MAX),
        false => Ok(items::summary(&whole.0, &whole.1, &whole.2, whole.0.kind != ItemKind::ToolCall)),
    });
    let items = items.collect::<rusqlite::Result<Vec<_>>>()?;
    let whole = value!({
        "session": {
            "session_id": session.session_id,
            "agent_id": session.agent_id,
            "cwd": session.cwd,
            "title": session.title,
            "labels": session.labels,
            "created_at": session.created_at,
            "last_seq": session.last_seq,
        },
        "items": items,
    });
    Ok(whole.to_string())
}

fn shown(db: &Connection, session: &SessionRow, shape: Shape) -> rusqlite::Result<Vec<Whole>> {
    let all = items::list(db, session.no, &Filter { limit: -1, ..Filter::default() }, i64::MAX)?;
    Ok(all.into_iter().filter(|(item, ..)| shape.thoughts || item.kind != ItemKind::Thought).collect())
}

fn entries(body: &Map<String, Value>) -> String {
    let entries = body.get("entries").and_then(Value::as_array).into_iter().flatten();
    let entry = |entry: &Value| {
        let done = entry.get("status").and_then(Value::as_str) == Some("completed");
        let content = entry.get("content").and_then(Value::as_str).unwrap_or_default();
        format!("- [{}] {}\n", if done { "x" } else { " " }, line(content))
    };
    entries.map(entry).collect()
}

/// Text of one line.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A fence that the text does not hold.
fn fence(text: &str) -> String {
    let (mut longest, mut run) = (2, 0);
    for character in text.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(longest + 1)
}
