//! Cancel a running turn or drop a queued one.
//!
//! # Request
//! `grace_seconds` (10; at most 30), `force` (true: kill the agent where it does not stop).
//!
//! # Response
//! `{"turn", "forced", "requests_cancelled"}`, once the turn has ended, or has not after all that was allowed. The
//! agent is told; what it asks is answered as cancelled; after the grace its request is cancelled, and two seconds
//! later its process is killed.
//!
//! # Limits
//! `limits.max_request_bytes` (256 KB), `limits.rate_per_minute` (600), `limits.max_concurrency` (32).
//!
//! # Errors
//! 404 `session_not_found`, `turn_not_found`; 409 `turn_finished`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION/turns/$TURN/cancel \
//!   --json '{"grace_seconds": 5}'
//! ```

use super::talking;
use crate::agents::sessions::cancelling;
use crate::agents::turns::view;
use crate::endpoint::{Answer, Call, Reply};
use serde_json::json;
use std::time::Duration;

/// Longest grace: the call itself may take no longer than its policy allows.
const LONGEST: Duration = Duration::from_secs(30);

pub(crate) async fn call(mut call: Call) -> Answer {
    let body = call.json();
    let grace = talking::seconds(&body, "grace_seconds", cancelling::USUAL, LONGEST)?;
    let force = body.flag("force", true)?;
    let row = talking::session(&call).await?;
    let turn_id = call.param("turn_id")?.into_owned();
    let done = cancelling::cancel(call.app(), &row.session_id, row.no, &turn_id, grace, force).await?;
    let (session_id, content) = (row.session_id, talking::content(&call));
    let forced = done.turn.details.contains_key("forced");
    let store = call.app().agents.store().await?;
    let turn = store.read(move |db| view::whole(db, &session_id, &done.turn, content)).await?;
    Ok(Reply::ok(&json!({"turn": turn, "forced": forced, "requests_cancelled": done.requests})))
}
