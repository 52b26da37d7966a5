//! List credential names, where they come from and who uses them.
//!
//! # Request
//! None.
//!
//! # Response
//! `{"credentials": [{name, source, present, agents, expose_as?, updated_at, last_used_at?}]}`, by name. `source` is
//! `value`, `env` or `file`; an empty `agents` means all. No value, length or hash of one is ever answered.
//!
//! # Limits
//! None.
//!
//! # Errors
//! None of its own.
//!
//! # Policy
//! Scope `agents:read`.
//!
//! ```sh
//! curl http://localhost:9000/agents/credentials
//! ```

use super::{blocking, unreadable};
use crate::endpoint::{Answer, Call, Reply};
use serde_json::json;
use std::sync::Arc;

pub(crate) async fn call(call: Call) -> Answer {
    let agents = Arc::clone(&call.app().agents);
    let shown = blocking(move || agents.credentials.list()).await?.map_err(|_| unreadable())?;
    Ok(Reply::ok(&json!({"credentials": shown})))
}
