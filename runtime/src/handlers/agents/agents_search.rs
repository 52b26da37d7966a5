//! Full-text search over all transcripts.
//!
//! # Request
//! `query`: words that must all occur, `"phrases"`, `begin*`, `-without`; `kinds`, a list of kinds of items; `agent_id`;
//! `session_id`; `cwd` of the session; `from` and `to`, epoch seconds between which the item must have begun; `context`, items
//! to show before and after (1, at most 5); `limit` (50); `cursor`.
//!
//! # Response
//! `{"hits": [{"session_id", "turn_id", "item_id", "kind", "ts", "snippet", "before", "after", "score"}], "next_cursor"?}`, best
//! first: of the newest 10,000 items that fit, by how often the words occur in an item against its length and how rare they
//! are in all (BM25), and of equals the newest. `before` and `after` hold `{"item_id", "kind", "title"?, "text"}` with the beginning of each text.
//!
//! # Limits
//! `limits.max_entries` (200) hits; 1000 characters and 32 terms of a query; 1 MiB of each item is searched.
//!
//! # Errors
//! 400 `invalid_query`, 400 `invalid_range`, 400 `invalid_cursor`.
//!
//! # Policy
//! `limits`. What tool calls showed and changed is neither searched nor shown for callers without `files:read`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/agents/search -H 'Content-Type: application/json' \
//!   --json '{"query": "parser \"off by one\"", "kinds": ["agent_message"]}'
//! ```

use super::super::launch;
use super::agents_usage_get::ordered;
use super::recorded;
use crate::agents::items::{self, ItemKind, Neighbour};
use crate::agents::search::{Asked, Hit, Query, RANKED, search};
use crate::agents::store::page::Page;
use crate::endpoint::{Answer, Call, JsonBody, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::{Value, json};
use std::sync::Arc;

/// Neighbours on each side,
const MOST_CONTEXT: i64 = 5;
/// and characters shown of each.
const NEIGHBOUR_TEXT: i64 = 200;
/// Hits that can be reached by cursors: what is far down the order is found by asking better.
const DEEPEST: i64 = RANKED;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let most = launch::limit(&call, |limits| limits.max_entries, 200);
    let (page, asked, context) = read(&mut body, most, recorded::files(&call))?;
    let app = Arc::clone(call.app());
    drop(call);
    let skip = asked.skip;
    let found = app.agents.store().await?.read(move |db| {
        let hits = search(db, &asked)?;
        let shown = hits.into_iter().map(|hit| {
            let sides = items::neighbours(db, hit.session, hit.no, context, NEIGHBOUR_TEXT)?;
            Ok(shown(&hit, &sides, asked.files))
        });
        shown.collect::<rusqlite::Result<Vec<Value>>>()
    });
    let mut hits = found.await?;
    let reached = skip.saturating_add(i64::try_from(page.limit).unwrap_or(i64::MAX));
    let next = page.next("search", &mut hits, |_| reached.to_string()).filter(|_| reached < DEEPEST);
    let mut answer = json!({"hits": hits});
    if let (Some(answer), Some(next)) = (answer.as_object_mut(), next) {
        answer.insert("next_cursor".to_owned(), next.into());
    }
    Ok(Reply::ok(&answer))
}

fn read(body: &mut JsonBody, most: u64, files: bool) -> Result<(Page, Asked, i64), ApiError> {
    let text = body.text("query")?.unwrap_or_default();
    let query = Query::parse(&text).map_err(|error| {
        ApiError::new(ErrorCode::InvalidQuery, error.to_string()).with("parameter", "query")
    })?;
    let limit = match body.integer("limit")? {
        None => None,
        Some(limit) => {
            Some(u64::try_from(limit).map_err(|_| ApiError::invalid("limit", "limit must be at least 1"))?)
        }
    };
    let page = Page::new("search", limit, body.text("cursor")?.as_deref(), most)?;
    let skip = page.after_number()?.unwrap_or(0);
    if !(0..DEEPEST).contains(&skip) {
        return Err(recorded::invalid_cursor("cursor", "cursor is not one that this list gave".to_owned()));
    }
    let context = body.integer("context")?.unwrap_or(1);
    if !(0..=MOST_CONTEXT).contains(&context) {
        return Err(ApiError::invalid("context", "context must be from 0 to 5"));
    }
    let unknown = |name: &str| ApiError::invalid("kinds", format!("kinds has no kind `{name}`"));
    let kinds = body.texts("kinds")?.unwrap_or_default();
    let kinds = kinds.iter().map(|name| ItemKind::from_name(name).ok_or_else(|| unknown(name)));
    let asked = Asked {
        query,
        files,
        kinds: kinds.collect::<Result<_, _>>()?,
        agent_id: body.text("agent_id")?,
        session_id: body.text("session_id")?,
        cwd: body.text("cwd")?,
        from: body.number("from")?,
        to: body.number("to")?,
        skip,
        limit: page.fetch(),
    };
    ordered(asked.from, asked.to)?;
    Ok((page, asked, context))
}

fn shown(hit: &Hit, [before, after]: &[Vec<Neighbour>; 2], files: bool) -> Value {
    let side = |neighbours: &[Neighbour]| {
        neighbours.iter().map(|beside| neighbour(beside, files)).collect::<Value>()
    };
    json!({
        "session_id": hit.session_id,
        "turn_id": hit.turn_id,
        "item_id": hit.item_id,
        "kind": hit.kind,
        "ts": hit.ts,
        "snippet": hit.snippet,
        "before": side(before),
        "after": side(after),
        "score": hit.score,
    })
}

fn neighbour(Neighbour { item, text }: &Neighbour, files: bool) -> Value {
    let hidden = item.kind == ItemKind::ToolCall && !files;
    let text = if hidden { "" } else { text.as_str() };
    json!({"item_id": item.item_id, "kind": item.kind, "title": item.title, "text": text})
}
