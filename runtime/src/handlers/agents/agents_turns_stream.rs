//! Send a prompt and stream its events until it ends.
//!
//! # Request
//! As `agents_turns_start`, without `wait_ms`; and `cancel_on_disconnect` (false).
//!
//! # Response
//! SSE: the events of the turn, `id` their number, ending with `turn.completed`, `turn.cancelled`, `turn.failed` or
//! `turn.interrupted`. A cut connection does not cancel; what is missing is had from `agents_events_stream` behind
//! the last `id`. What came out of files is hidden from callers without `files:read`.
//!
//! # Limits
//! `limits.max_request_bytes` (20 MB), `limits.max_duration_seconds` (3600) of a turn, `limits.rate_per_minute`
//! (120), `limits.max_concurrency` (16).
//!
//! # Errors
//! As `agents_turns_start`, as JSON before the stream opens.
//!
//! # Policy
//! `paths` (of `cwd` and `additional_directories`), `commands` (the agent, MCP servers), `variables`,
//! `params.env_deny`, `urls` (MCP servers), `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION/turns/stream \
//!   --json '{"prompt": "add a test for the parser"}'
//! ```

use super::{asking, recorded, talking, telling};
use crate::endpoint::{Answer, Call};
use std::sync::Arc;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let row = talking::session(&call).await?;
    let cancels = body.flag("cancel_on_disconnect", false)?;
    let asked = asking::read(&call, &mut body, &row)?.whole().await?;
    let queued = asking::queue(call.app(), &row.session_id, asked).await?;
    telling::turn(Arc::clone(call.app()), &row, queued, cancels, recorded::files(&call)).await
}
