//! One agent: launch recipe, last handshake, declared abilities.
//!
//! # Request
//! The id in the path.
//!
//! # Response
//! As in the list, with `args`, `env_names`, `client_fs`, `client_terminal`, `share_process`, `allow_rpc`, `install`?,
//! `cwd_default`?, `handshake{at, ms, protocol_version, agent_info, agent_capabilities, auth_methods, extensions}`?. The
//! handshake is the agent's own answer, untouched. Values of variables are never shown.
//!
//! # Limits
//! None.
//!
//! # Errors
//! 404 `agent_not_found`.
//!
//! # Policy
//! Scope `agents:read`.
//!
//! ```sh
//! curl http://localhost:9000/agents/catalog/opencode
//! ```

use super::blocking;
use crate::endpoint::{Answer, Call, Reply};
use std::sync::Arc;

pub(crate) async fn call(call: Call) -> Answer {
    let agents = Arc::clone(&call.app().agents);
    let entry = agents.known(&call.param("agent_id")?).await?;
    let shown = blocking(move || entry.shown_whole(&agents.engine.programs, &agents.credentials)).await?;
    Ok(Reply::ok(&shown))
}
