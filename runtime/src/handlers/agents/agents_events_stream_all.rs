//! Follow state changes and requests of all sessions.
//!
//! # Request
//! The header `Last-Event-ID`, or `after` in the query, says behind which global number to go on (from now on). In the query:
//! `kinds`, names or families separated by commas; `agent_id`; `label`, a pair `name:value` that a session must have; `chunks`,
//! to have pieces of messages and of terminals too (false).
//!
//! # Response
//! `text/event-stream` as of one session; `id` is the global number `gseq`, and every event carries `session_id` and `seq`.
//!
//! # Limits
//! `limits.max_duration_seconds` (3600), `limits.max_concurrency` (32), `limits.rate_per_minute` (120); 20,000 events behind.
//!
//! # Errors
//! 400 `invalid_cursor`, 410 `offset_expired` (with `first_gseq`).
//!
//! # Policy
//! `limits`. What came out of files is hidden from callers without `files:read`.
//!
//! ```sh
//! curl -N -H "X-Access-Token: $ABX_SERVER_TOKEN" "http://localhost:9000/agents/events/stream?kinds=permission,question,turn"
//! ```

use super::super::launch;
use super::recorded;
use super::streaming::{Feed, Pick};
use crate::endpoint::{Answer, Call};
use crate::error::ApiError;
use std::sync::Arc;
use std::time::Duration;

pub(crate) async fn call(call: Call) -> Answer {
    let after = recorded::after(&call)?;
    let label = match recorded::text(&call, "label")? {
        None => None,
        Some(text) => match text.split_once(':') {
            Some((name, value)) if !name.is_empty() => Some((name.to_owned(), value.to_owned())),
            _ => return Err(ApiError::invalid("label", "label must be a pair name:value")),
        },
    };
    let pick = Pick {
        kinds: recorded::kinds(&call)?,
        chunks: call.query().flag("chunks", false)?,
        files: recorded::files(&call),
        agent_id: recorded::text(&call, "agent_id")?,
        label,
    };
    let longest = Duration::from_secs(launch::limit(&call, |limits| limits.max_duration_seconds, 3600));
    let app = Arc::clone(call.app());
    drop(call);
    let opened = app.agents.open().await?;
    let follow = opened.log.follow_all(after).await;
    let feed = Feed {
        follow: follow.map_err(|error| recorded::not_followed("first_gseq", error))?,
        store: opened.store.clone(),
        stopping: app.stopping.clone(),
        pick,
        coalesce: Duration::ZERO,
        until_idle: None,
        global: true,
    };
    Ok(feed.reply(longest))
}
