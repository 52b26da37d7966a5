//! Follow one session's events, resuming where you stopped.
//!
//! # Request
//! In the path: `session_id`. The header `Last-Event-ID`, or `after` in the query, says behind which number to go on (the
//! beginning of the log). In the query: `kinds`, names or families separated by commas; `coalesce_ms` (0, at most 1000), how
//! long chunks of one message are gathered into one event; `until_idle`, to end when nothing is under way and no turn waits to
//! run.
//!
//! # Response
//! `text/event-stream`: `retry: 2000`, then what is stored and then what comes, `id` the number, `event` the kind, `data` the
//! event. A comment every 15 s keeps a silent stream open. A reader that falls behind gets `lagged{after}` and is closed;
//! it comes back behind the last `id` and misses nothing.
//!
//! # Limits
//! `limits.max_duration_seconds` (3600), `limits.max_concurrency` (32), `limits.rate_per_minute` (120); 20,000 events behind.
//!
//! # Errors
//! 400 `invalid_cursor`, 404 `session_not_found`, 410 `offset_expired` (with `first_seq`).
//!
//! # Policy
//! `limits`. What came out of files is hidden from callers without `files:read`.
//!
//! ```sh
//! curl -N -H "X-Access-Token: $ABX_SERVER_TOKEN" -H "Last-Event-ID: 100" \
//!   "http://localhost:9000/agents/sessions/$SESSION/events/stream"
//! ```

use super::super::launch;
use super::recorded;
use super::streaming::{Feed, Pick};
use super::workspaces;
use crate::endpoint::{Answer, Call};
use crate::error::ApiError;
use std::sync::Arc;
use std::time::Duration;

/// Longest time that pieces are gathered, in milliseconds: who follows wants to see what happens.
const LONGEST_GATHERING: u64 = 1000;

pub(crate) async fn call(call: Call) -> Answer {
    let after = recorded::after(&call)?;
    let pick = Pick {
        kinds: recorded::kinds(&call)?,
        chunks: true,
        files: recorded::files(&call),
        ..Pick::default()
    };
    let coalesce = call.query().count("coalesce_ms")?.unwrap_or(0);
    if coalesce > LONGEST_GATHERING {
        return Err(ApiError::invalid("coalesce_ms", "coalesce_ms must be at most 1000"));
    }
    let until_idle = call.query().flag("until_idle", false)?;
    let longest = Duration::from_secs(launch::limit(&call, |limits| limits.max_duration_seconds, 3600));
    let app = Arc::clone(call.app());
    let session_id = call.param("session_id")?.into_owned();
    drop(call);
    let session = workspaces::session(&app, session_id).await?;
    let opened = app.agents.open().await?;
    let follow = opened.log.follow(&session.session_id, after.unwrap_or(session.first_seq - 1)).await;
    let feed = Feed {
        follow: follow.map_err(|error| recorded::not_followed("first_seq", error))?,
        store: opened.store.clone(),
        stopping: app.stopping.clone(),
        pick,
        coalesce: Duration::from_millis(coalesce),
        until_idle: until_idle.then_some(session.session_id),
        global: false,
    };
    Ok(feed.reply(longest))
}
