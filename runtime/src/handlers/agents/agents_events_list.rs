//! Read events after a sequence number.
//!
//! # Request
//! In the path: `session_id`. In the query: `after`, a number (the beginning of the log); `limit` (200); `kinds`, names or
//! families (`turn`, `tool_call.updated`) separated by commas; `turn_id`; `raw`, to have what the agent sent as well; `order`,
//! `asc` or `desc` (`asc`).
//!
//! # Response
//! `{"events": [{"seq", "gseq", "ts", "session_id", "turn_id"?, "kind", "data", "raw"?}], "first_seq", "last_seq", "more"}`.
//! Numbers have no gap, but for old chunks that were joined: `data.from_seq` says the first of them. `first_seq` and
//! `last_seq` are those of the log. `process.noise` tells of sixteen lines one by one, then of a number of `lines` and `bytes`
//! at most every ten seconds, of which `text` is the beginning; the lines are in the log of the process.
//!
//! # Limits
//! `limits.max_entries` (1000), `limits.max_bytes` (8 MB) of one answer; at least one event comes.
//!
//! # Errors
//! 400 `invalid_cursor`, 404 `session_not_found`, 410 `offset_expired` (with `first_seq`).
//!
//! # Policy
//! `limits`. What came out of files, `raw` among it, is hidden from callers without `files:read`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" "http://localhost:9000/agents/sessions/$SESSION/events?after=100"
//! ```

use super::super::launch;
use super::{recorded, workspaces};
use crate::agents::log::{Asked, Event, list, veil};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::Arc;

#[derive(Debug, Serialize)]
struct Response {
    events: Vec<Shown>,
    first_seq: i64,
    last_seq: i64,
    more: bool,
}

#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    event: Event,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<Box<RawValue>>,
}

/// How many events come where nobody says otherwise.
const USUAL: u64 = 200;

pub(crate) async fn call(call: Call) -> Answer {
    let query = call.query();
    let after = recorded::after(&call)?;
    let most = launch::limit(&call, |limits| limits.max_entries, 1000).max(1);
    let limit = match query.count("limit")? {
        Some(0) => return Err(ApiError::invalid("limit", "limit must be at least 1")),
        asked => asked.unwrap_or(USUAL).min(most),
    };
    let descending = match query.text("order")? {
        None | Some("" | "asc") => false,
        Some("desc") => true,
        Some(_) => return Err(ApiError::invalid("order", "order must be asc or desc")),
    };
    let asked = Asked {
        kinds: recorded::kinds(&call)?,
        turn_id: recorded::text(&call, "turn_id")?,
        descending,
        limit: recorded::size(limit),
        max_bytes: recorded::max_bytes(&call, 8 << 20),
        raw: query.flag("raw", false)?,
        ..Asked::default()
    };
    let (app, files) = (Arc::clone(call.app()), recorded::files(&call));
    let session_id = call.param("session_id")?.into_owned();
    drop(call);
    let session = workspaces::session(&app, session_id).await?;
    let after = after.unwrap_or(session.first_seq - 1);
    if after > session.last_seq {
        let message = format!("after lies past the end of the log, which is {}", session.last_seq);
        return Err(recorded::invalid_cursor("after", message));
    }
    if after + 1 < session.first_seq {
        return Err(recorded::expired("first_seq", session.first_seq));
    }
    let asked = Asked { session: Some(session.no), after, ..asked };
    let (events, more) = app.agents.store().await?.read(move |db| list(db, &asked)).await?;
    let events = events.into_iter().map(|event| shown(event, files)).collect();
    Ok(Reply::ok(&Response { events, first_seq: session.first_seq, last_seq: session.last_seq, more }))
}

fn shown(event: Event, files: bool) -> Shown {
    let mut event = match files {
        true => event,
        false => veil(&event).unwrap_or(event),
    };
    let raw = event.raw.take();
    Shown { event, raw }
}
