//! Uninstall an agent and drop its custom registration.
//!
//! # Request
//! The id in the path. Query: `keep_registration` (false: a registered agent is forgotten too).
//!
//! # Response
//! `{"agent_id", "uninstalled", "unregistered", "bytes_freed"}`. Only the private folder of the agent is removed; what the
//! system has installed stays.
//!
//! # Limits
//! None.
//!
//! # Errors
//! 404 `agent_not_found`; 409 `agent_in_use` (with `session_ids` that have not been closed), `install_running`.
//!
//! # Policy
//! Scope `agents:manage`.
//!
//! ```sh
//! curl -X DELETE 'http://localhost:9000/agents/catalog/opencode?keep_registration=true'
//! ```

use super::blocking;
use super::catalogued::{Starting, held};
use crate::agents::catalogue::{self, Origin};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::json;
use std::sync::Arc;

pub(crate) async fn call(call: Call) -> Answer {
    let keep = call.query().flag("keep_registration", false)?;
    let starting = Starting::of(&call)?;
    let entry = starting.entry().await?;
    let id = entry.definition.id.clone();
    let agents = Arc::clone(&starting.agents);
    let lock = held(&agents, &id)?;
    let open = catalogue::open_sessions(agents.store().await?, id.clone()).await?;
    if !open.is_empty() {
        let message = "Sessions of the agent are open; close them first";
        return Err(ApiError::new(ErrorCode::AgentInUse, message).with("session_ids", open));
    }
    let (service, name) = (Arc::clone(&agents), id.clone());
    let removed = blocking(move || service.installs.remove(&lock, &name)).await?;
    let freed = removed.map_err(|_| ApiError::internal("The agent's folder could not be removed"))?;
    let store = agents.store().await?;
    let unregistered = entry.definition.kind == Origin::Custom && !keep;
    if unregistered {
        catalogue::unregister(store, id.clone()).await?;
    } else if entry.facts.install.is_some() {
        catalogue::installed(store, id.clone(), None).await?;
    }
    Ok(Reply::ok(&json!({
        "agent_id": id,
        "uninstalled": freed.is_some(),
        "unregistered": unregistered,
        "bytes_freed": freed.unwrap_or(0),
    })))
}
