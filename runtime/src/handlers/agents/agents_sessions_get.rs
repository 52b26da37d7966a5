//! One session: state, options, plan summary, pending requests, usage.
//!
//! # Request
//! `{session_id}` in the path.
//!
//! # Response
//! `{"session"}` with `current_turn`, `queue`, `pending_requests`, `usage`, `plan_progress`, `process_id`,
//! `continuity` and `resumable` (`resume`, `load`, `digest`). What tool calls carry is shown to holders of
//! `files:read` alone.
//!
//! # Limits
//! `limits.max_entries` (200), `limits.max_bytes` (4 MB), `limits.rate_per_minute` (600), `limits.max_concurrency`
//! (32).
//!
//! # Errors
//! 404 `session_not_found`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION
//! ```

use super::talking;
use crate::endpoint::{Answer, Call, Reply};
use serde_json::json;

pub(crate) async fn call(call: Call) -> Answer {
    let session = talking::shown(&call, &call.param("session_id")?).await?;
    Ok(Reply::ok(&json!({"session": session})))
}
