//! Reconnect a closed or disconnected session to its agent.
//!
//! # Request
//! `allow` (ways to go on, in this order: `resume`, `load`, `digest`; all where absent), `verify` (true: the agent
//! must still run afterwards).
//!
//! # Response
//! `{"session", "continuity", "replayed_updates"}`. `continuity` is `live` (it was there), `native` (the agent
//! remembers) or `digest` (it is told a summary with the next prompt). What an agent repeats while it loads is
//! counted and kept out of the log.
//!
//! # Limits
//! `limits.max_request_bytes` (1 MB), `limits.rate_per_minute` (60), `limits.max_concurrency` (4). An agent may be
//! silent for 120 s while it opens a conversation.
//!
//! # Errors
//! 404 `session_not_found`; 409 `not_resumable`, `agent_auth_required`; 429 `session_limit`; 502
//! `agent_protocol_error`; 503 `agent_unavailable`; 504 `agent_timeout`.
//!
//! # Policy
//! `paths` (of `cwd` and `additional_directories`), `commands` (the agent, MCP servers), `variables`,
//! `params.env_deny`, `urls` (MCP servers), `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION/resume \
//!   --json '{"allow": ["resume", "load"]}'
//! ```

use super::talking;
use crate::agents::sessions::actor::How;
use crate::agents::sessions::open;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use serde_json::json;
use tokio::sync::oneshot;

const WAYS: [&str; 3] = ["resume", "load", "digest"];

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let allow = body.texts("allow")?;
    if allow.iter().flatten().any(|way| !WAYS.contains(&way.as_str())) {
        return Err(ApiError::invalid("allow", "allow must name resume, load or digest"));
    }
    let allowed = |way: &str| allow.as_ref().is_none_or(|allow| allow.iter().any(|one| one == way));
    let how = How::Again {
        resume: allowed("resume"),
        load: allowed("load"),
        digest: allowed("digest"),
        verify: body.flag("verify", true)?,
    };
    let row = talking::session(&call).await?;
    let launch = talking::launch_for(&call, &row)?;
    let (waiter, came_up) = oneshot::channel();
    let app = call.app();
    let begun = app.agents.live.ask(app, &row.session_id, move |actor| {
        actor.begin(launch, how, waiter);
        Box::pin(std::future::ready(()))
    });
    begun.await?;
    let began = open::wait(came_up).await?;
    let session = talking::shown(&call, &row.session_id).await?;
    Ok(Reply::ok(&json!({
        "session": session, "continuity": began.continuity, "replayed_updates": began.replayed,
    })))
}
