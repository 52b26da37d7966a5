//! Branch a session, optionally from an earlier turn.
//!
//! # Request
//! `after_turn_id` (branch behind that turn; by a digest), `title`, `cwd` (the parent's), `labels`, `ephemeral`
//! (false: lists leave the branch out), `require_native` (false), `restore_files` (false: with `after_turn_id`, the files are
//! first put back to what they were when the turn behind it began).
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
//! as `agents_sessions_create`. With `restore_files`: 404 `checkpoint_not_found`, 409 `restore_conflict` (with `conflicts`).
//!
//! # Policy
//! `paths` (of `cwd` and `additional_directories`), `commands` (the agent, MCP servers), `variables`,
//! `params.env_deny`, `urls` (MCP servers), `limits`. `restore_files` takes the rules and scopes of
//! `agents_checkpoints_restore`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION/fork \
//!   --json '{"title": "another way"}'
//! ```

use super::{going_back, talking};
use crate::agents::process::Judge;
use crate::agents::sessions::fork::{Branch, check, fork};
use crate::agents::sessions::{fields, view};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use serde_json::json;
use std::sync::Arc;

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
    let restore = match (body.flag("restore_files", false)?, branch.after_turn_id.clone()) {
        (false, _) => None,
        (true, Some(turn_id)) => Some((going_back::leave(&call)?, turn_id)),
        (true, None) => {
            return Err(ApiError::invalid("restore_files", "restore_files goes with after_turn_id"));
        }
    };
    let parent = talking::session(&call).await?;
    let (app, owner) = (Arc::clone(call.app()), call.principal().id.clone());
    let judge = Judge::of(call.permit());
    drop(call);
    if let Some((leave, turn_id)) = restore {
        check(&app, &parent, &branch).await?;
        leave.after(&app, &parent, &turn_id).await?;
    }
    let (row, began) = fork(&app, &judge, &owner, &parent, branch).await?;
    Ok(Reply::ok(&json!({"session": view::summary(&row), "continuity": began.continuity})))
}
