//! List running agent processes with memory, age and sessions.
//!
//! # Request
//! Query: `agent_id`.
//!
//! # Response
//! `{"processes": [{process_id, agent_id, pid, state, started_at, last_frame_at, rss_bytes, children, session_ids,
//! restarts, in_flight}]}`, oldest first. `state` is `starting`, `ready`, `draining` or `dead`; the last 50 dead ones are
//! listed too. `rss_bytes` and `children` count everything beneath the process.
//!
//! # Limits
//! 16 agent processes run at once.
//!
//! # Errors
//! None of its own.
//!
//! # Policy
//! Scope `agents:read`.
//!
//! ```sh
//! curl 'http://localhost:9000/agents/processes?agent_id=opencode'
//! ```

use super::blocking;
use crate::endpoint::{Answer, Call, Reply};
use serde_json::json;
use std::sync::Arc;

pub(crate) async fn call(call: Call) -> Answer {
    let agent_id = call.query().text("agent_id")?.map(str::to_owned);
    let agents = Arc::clone(&call.app().agents);
    let shown = blocking(move || agents.processes.list(agent_id.as_deref())).await?;
    Ok(Reply::ok(&json!({"processes": shown})))
}
