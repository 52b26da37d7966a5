//! Close a session and end its processes.
//!
//! # Request
//! `{id}` in the path.
//!
//! # Response
//! `{"status": "closed", "session_id"}`, once everything that ran in it is gone.
//!
//! # Limits
//! Two seconds for what does not end when it is asked to.
//!
//! # Errors
//! 404 `not_found`.
//!
//! # Policy
//! The common keys.
//!
//! ```sh
//! curl -X DELETE -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/pty/sessions/ID
//! ```

use serde_json::json;

use super::sessions;
use crate::endpoint::{Answer, Call, Reply};

pub(crate) async fn call(call: Call) -> Answer {
    let session = sessions::find(&call, &call.param("id")?)?;
    call.app().terminals.close(&session).await;
    Ok(Reply::ok(&json!({"status": "closed", "session_id": session.id})))
}
