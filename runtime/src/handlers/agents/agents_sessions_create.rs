//! Open a session with an agent in a directory.
//!
//! # Request
//! `agent_id` and `cwd` (required), `title`, `labels`, `additional_directories`, `mcp` (names or whole
//! definitions), `skills`, `options` (values by option id or category), `policy` (`default`, `timeout_seconds`,
//! `on_timeout`), `isolation` (`none`, `worktree`), `budget` (`cost`, `currency`, `tokens`, `turns`), `trace`,
//! `idempotency_key`.
//!
//! # Response
//! `{"session"}`, once the agent is up and the options are set.
//!
//! # Limits
//! `limits.max_request_bytes` (1 MB), `limits.rate_per_minute` (60), `limits.max_concurrency` (4). An agent may be
//! silent for 120 s while it opens a conversation. At most 32 sessions are open at once.
//!
//! # Errors
//! 400 `invalid_request`, `invalid_value`, `invalid_server`; 403 `path_not_allowed`, `command_not_allowed`,
//! `variable_not_allowed`, `mode_denied`; 404 `agent_not_found`; 409 `agent_not_installed`, `agent_auth_required` (with `auth_methods`),
//! `capability_missing`, `idempotency_conflict`; 429 `session_limit`; 502 `agent_protocol_error`; 503
//! `agent_unavailable`; 504 `agent_timeout`. Where the agent did not come up, `session_id` names what is left to
//! look at.
//!
//! # Policy
//! `paths` (of `cwd` and `additional_directories`), `commands` (the agent, MCP servers), `variables`,
//! `params.env_deny`, `urls` (MCP servers), `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions \
//!   --json '{"agent_id": "opencode", "cwd": "/home/user/project", "policy": {"default": "allow_reads"}}'
//! ```

use crate::agents::once::{self, Claim};
use crate::agents::process::Judge;
use crate::agents::sessions::actor::How;
use crate::agents::sessions::fields::Fields;
use crate::agents::sessions::open::{self, Origin};
use crate::agents::sessions::view;
use crate::endpoint::{Answer, Call, Reply};
use serde_json::json;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let store = call.app().agents.store().await?;
    let once = match once::claim(&call, store, &body).await? {
        Claim::Again(reply) => return Ok(Reply::ok(&reply)),
        Claim::First(once) => once,
    };
    let fields = Fields::read(&mut body)?;
    call.note().touches(fields.cwd.as_str());
    let judge = Judge::of(call.permit());
    let owner = call.principal().id.to_string();
    let opened = open::open(call.app(), &judge, &owner, fields, Origin::default(), How::New).await?;
    once.done(json!({"session": view::summary(&opened.0)})).await
}
