//! Whose a change is: which turns made it, and by what.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rusqlite::Connection;
use serde_json::Value;

use super::changes::from_top;
use super::compare;
use super::desk::Desk;
use super::error::WorkspaceError;
use super::objects::Oid;
use super::records::{self, Checkpoint, Span};
use crate::agents::store::sessions::SessionRow;
use crate::app::App;

/// What a turn is known to have touched.
#[derive(Debug, Default)]
struct Touched {
    /// Paths that its tool calls name as their places or diffs.
    tool: BTreeSet<Vec<u8>>,
    /// Paths that it wrote through the server.
    fs: BTreeSet<Vec<u8>>,
    /// Whether it ran commands.
    commands: bool,
}

/// Who changed what since a restore point.
#[derive(Debug, Default)]
pub struct Attribution {
    /// Sessions that worked in the same tree meanwhile: then only what a tool names is known to be this session's.
    pub shared_with: Vec<String>,
    /// Paths by the turn that changed them, in order.
    changed: Vec<(String, BTreeSet<Vec<u8>>)>,
    touched: BTreeMap<String, Touched>,
}

impl Attribution {
    /// The turns that changed a path.
    #[must_use]
    pub fn turns(&self, path: &[u8]) -> Vec<&str> {
        let names = |turn: &str| {
            self.touched
                .get(turn)
                .is_some_and(|touched| touched.tool.contains(path) || touched.fs.contains(path))
        };
        let own = self.changed.iter().filter(|(turn, paths)| {
            if self.shared_with.is_empty() { paths.contains(path) } else { names(turn) }
        });
        own.map(|(turn, _)| turn.as_str()).collect()
    }

    /// By what it was changed: `tool`, `fs`, `terminal`, or `unknown`.
    #[must_use]
    pub fn sources(&self, path: &[u8]) -> Vec<&'static str> {
        let turns: Vec<&Touched> =
            self.turns(path).into_iter().filter_map(|turn| self.touched.get(turn)).collect();
        let mut sources = Vec::new();
        if turns.iter().any(|touched| touched.tool.contains(path)) {
            sources.push("tool");
        }
        if turns.iter().any(|touched| touched.fs.contains(path)) {
            sources.push("fs");
        }
        if sources.is_empty() && turns.iter().any(|touched| touched.commands) {
            sources.push("terminal");
        }
        if sources.is_empty() {
            sources.push("unknown");
        }
        sources
    }
}

/// Finds out.
pub(super) async fn of(
    app: &Arc<App>,
    desk: &Desk,
    session: &SessionRow,
    from: Checkpoint,
) -> Result<Attribution, WorkspaceError> {
    let store = app.agents.store().await?;
    let (no, cwd) = (session.no, session.cwd.clone());
    let read = store.read(move |db| {
        let spans = records::spans(db, &from)?;
        let mut others = records::others(db, no, from.created_at)?;
        others.retain(|(_, other)| from_top(&cwd, other).is_some() || from_top(other, &cwd).is_some());
        let mut touched = BTreeMap::new();
        for turn in spans.iter().filter_map(|span| span.turn_id.as_deref()) {
            touched.insert(turn.to_owned(), touched_by(db, no, turn, &cwd)?);
        }
        Ok((spans, others, touched))
    });
    let (spans, others, touched) = read.await?;
    let shared_with = others.into_iter().map(|(session_id, _)| session_id).collect();
    let changed = changed_by(desk, spans).await?;
    Ok(Attribution { shared_with, changed, touched })
}

/// The paths that each turn changed; one that goes on is compared with now.
async fn changed_by(
    desk: &Desk,
    spans: Vec<Span>,
) -> Result<Vec<(String, BTreeSet<Vec<u8>>)>, WorkspaceError> {
    let open = spans.iter().any(|span| span.turn_id.is_some() && span.end.is_none());
    let now = if open { Some(desk.snapshot(Vec::new()).await?.tree) } else { None };
    desk.with_objects(move |objects| {
        let tree = |tree: &Option<String>| tree.as_deref().and_then(|tree| tree.parse::<Oid>().ok());
        let mut changed = Vec::new();
        for span in spans {
            let (Some(turn), Some(start), Some(end)) =
                (&span.turn_id, tree(&span.start), tree(&span.end).or(now))
            else {
                continue;
            };
            let paths = compare::differing(objects, start, end)?.into_keys().collect();
            changed.push((turn.clone(), paths));
        }
        Ok(changed)
    })
    .await
}

/// What the log knows of a turn.
fn touched_by(db: &Connection, session: i64, turn: &str, cwd: &str) -> rusqlite::Result<Touched> {
    let mut touched = Touched::default();
    let mut items = db.prepare_cached(
        "SELECT tool_kind, body FROM items WHERE session = ?1 AND turn_id = ?2 AND kind = 'tool_call'",
    )?;
    let mut rows = items.query((session, turn))?;
    while let Some(row) = rows.next()? {
        let (kind, body): (Option<String>, String) = (row.get(0)?, row.get(1)?);
        // A tool that only looks has changed nothing.
        let looks = matches!(kind.as_deref(), Some("read" | "search" | "think" | "fetch"));
        touched.commands |= kind.as_deref() == Some("execute");
        if !looks {
            let body: Value = serde_json::from_str(&body).unwrap_or_default();
            named(&body, &mut |path| touched.tool.extend(from_top(cwd, path)));
        }
    }
    let mut written = db.prepare_cached(
        "SELECT kind, data FROM events WHERE session = ?1 AND turn_id = ?2 AND kind IN ('file.written', 'terminal.exited')",
    )?;
    let mut rows = written.query((session, turn))?;
    while let Some(row) = rows.next()? {
        let (kind, data): (String, String) = (row.get(0)?, row.get(1)?);
        if kind == "terminal.exited" {
            touched.commands = true;
            continue;
        }
        let data: Value = serde_json::from_str(&data).unwrap_or_default();
        touched.fs.extend(data.get("path").and_then(Value::as_str).and_then(|path| from_top(cwd, path)));
    }
    Ok(touched)
}

/// Every path that a tool call gives as one of its places or diffs.
fn named(body: &Value, each: &mut impl FnMut(&str)) {
    for list in ["locations", "content", "diffs"] {
        for entry in body.get(list).and_then(Value::as_array).into_iter().flatten() {
            if let Some(path) = entry.get("path").and_then(Value::as_str) {
                each(path);
            }
        }
    }
}
