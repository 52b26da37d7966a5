//! Live terminal sessions.
//!
//! # Request
//! Nothing.
//!
//! # Response
//! `{"sessions": [{"id", "pid", "created_at", "cols", "rows", "alive", "attached"}]}`, oldest first.
//!
//! # Limits
//! `limits.rate_per_minute`, `limits.max_concurrency`.
//!
//! # Errors
//! None of its own.
//!
//! # Policy
//! The common keys. A caller sees its own sessions; one that holds `*` sees all.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/pty/sessions
//! ```

use serde_json::json;

use super::sessions::Shown;
use crate::endpoint::{Answer, Call, Reply};

pub(crate) async fn call(call: Call) -> Answer {
    let sessions = call.app().terminals.list(|owner| call.principal().sees(owner));
    let shown: Vec<Shown> = sessions.iter().map(|session| Shown::of(session)).collect();
    Ok(Reply::ok(&json!({"sessions": shown})))
}
