//! List stored MCP servers.
//!
//! # Request
//! In the query: `agent_id`, `cwd`: only those that are given by default to such a session.
//!
//! # Response
//! `{"servers": [{"name", "transport", "command"?, "args"?, "url"?, "env_names", "header_names", "default_for": {"agents", "cwds"},
//! "last_check"?}]}`. Values of variables and headers are never shown.
//!
//! # Limits
//! `limits.max_entries` (200).
//!
//! # Errors
//! 400 `invalid_parameter`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/agents/mcp
//! ```

use std::sync::Arc;

use serde_json::json;

use super::super::launch;
use crate::agents::mcp::rows::{self, Server};
use crate::endpoint::{Answer, Call, Reply};

pub(crate) async fn call(call: Call) -> Answer {
    let most = usize::try_from(launch::limit(&call, |limits| limits.max_entries, 200)).unwrap_or(usize::MAX);
    let agent_id = call.query().text("agent_id")?.map(str::to_owned);
    let cwd = call.query().text("cwd")?.map(str::to_owned);
    let app = Arc::clone(call.app());
    drop(call);
    let mut servers = app.agents.store().await?.read(rows::list).await?;
    if agent_id.is_some() || cwd.is_some() {
        let (agent_id, cwd) = (agent_id.unwrap_or_default(), cwd.unwrap_or_default());
        servers.retain(|server| server.definition.is_default_for(&agent_id, &cwd));
    }
    let servers: Vec<_> = servers.iter().take(most).map(Server::view).collect();
    Ok(Reply::ok(&json!({"servers": servers})))
}
