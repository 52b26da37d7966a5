//! Branch a session, optionally from an earlier turn.
//!
//! # Request
//! `after_turn_id` (branch behind that turn; by a digest), `title`, `cwd` (the parent's), `labels`, `ephemeral`
//! (false: lists leave the branch out), `require_native` (false).
//!
//! # Response
//! `{"session", "continuity"}`; `continuity` is `native` or `digest`. The log of the parent is not touched.
//!
//! # Limits
//! `limits.max_request_bytes` (1 MB), `limits.rate_per_minute` (60), `limits.max_concurrency` (4). An agent may be
//! silent for 120 s while it opens a conversation.
//!
//! # Errors
//! 404 `session_not_found`, `turn_not_found`; 409 `session_busy`, `capability_missing` (with `require_native`), and
//! as `agents_sessions_create`.
//!
//! # Policy
//! `paths` (of `cwd` and `additional_directories`), `commands` (the agent, MCP servers), `variables`,
//! `params.env_deny`, `urls` (MCP servers), `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION/fork \
//!   --json '{"title": "another way"}'
//! ```

use super::talking;
use crate::agents::process::Judge;
use crate::agents::sessions::fork::{Branch, fork};
use crate::agents::sessions::{fields, view};
use crate::endpoint::{Answer, Call, Reply};
use serde_json::json;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let branch = Branch {
        after_turn_id: body.text("after_turn_id")?,
        title: fields::title(&mut body)?,
        cwd: body.text("cwd")?,
        labels: fields::labels(&mut body)?,
        ephemeral: body.flag("ephemeral", false)?,
        require_native: body.flag("require_native", false)?,
    };
    let parent = talking::session(&call).await?;
    let judge = Judge::of(call.permit());
    let (row, began) = fork(call.app(), &judge, &call.principal().id, &parent, branch).await?;
    Ok(Reply::ok(&json!({"session": view::summary(&row), "continuity": began.continuity})))
}
