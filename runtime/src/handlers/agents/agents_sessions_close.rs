//! Stop work, free the process, keep the history.
//!
//! # Request
//! `force` (false): do not wait for the running turn to stop.
//!
//! # Response
//! `{"session", "cancelled_turns"}`, once the process is gone. Waiting turns are cancelled too.
//!
//! # Limits
//! `limits.max_request_bytes` (256 KB), `limits.rate_per_minute` (600), `limits.max_concurrency` (32).
//!
//! # Errors
//! 404 `session_not_found`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION/close \
//!   --json '{}'
//! ```

use super::talking;
use crate::agents::sessions::delete::close;
use crate::endpoint::{Answer, Call, Reply};
use serde_json::json;

pub(crate) async fn call(mut call: Call) -> Answer {
    let force = call.json().flag("force", false)?;
    let session_id = call.param("session_id")?.into_owned();
    let cancelled = close(call.app(), &session_id, force).await?;
    let session = talking::shown(&call, &session_id).await?;
    Ok(Reply::ok(&json!({"session": session, "cancelled_turns": cancelled})))
}
