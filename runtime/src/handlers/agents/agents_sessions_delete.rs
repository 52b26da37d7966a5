//! Delete a session, its log, checkpoints and artifacts.
//!
//! # Request
//! Query: `native` (false; the agent deletes its own copy too, where it can and is running), `force` (false; also
//! while a turn runs or waits).
//!
//! # Response
//! `{"session_id", "deleted": true, "native_deleted", "bytes_freed"}`. Files of the workspace are left alone.
//!
//! # Limits
//! `limits.max_request_bytes` (1 MB), `limits.rate_per_minute` (120), `limits.max_concurrency` (8).
//!
//! # Errors
//! 404 `session_not_found`; 409 `session_busy`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X DELETE -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION?native=true
//! ```

use crate::agents::sessions::delete::{Wanted, delete};
use crate::endpoint::{Answer, Call, Reply};
use serde_json::json;

pub(crate) async fn call(call: Call) -> Answer {
    let session_id = call.param("session_id")?.into_owned();
    let query = call.query();
    let wanted = Wanted { native: query.flag("native", false)?, force: query.flag("force", false)? };
    let deleted = delete(call.app(), &session_id, wanted).await?;
    Ok(Reply::ok(&json!({
        "session_id": session_id, "deleted": true, "native_deleted": deleted.native,
        "bytes_freed": deleted.bytes,
    })))
}
