//! Send a prompt; return at once with a turn id.
//!
//! # Request
//! `prompt` (text, or content blocks of the protocol) or `command` (`name`, `arguments`) or `retry_of` (a turn id; with
//! `restore_files` the files are first put back to what they were before that turn),
//! `attachments` (`name`, `mime_type`, `content_base64`), `on_busy` (`queue`, `interrupt`, `reject`),
//! `timeout_seconds`, `wait_ms` (0), `idempotency_key`.
//!
//! # Response
//! `{"turn": {"turn_id", "state", "position", "seq"}}`. With `wait_ms` the turn is shown whole, as it is when it
//! has ended, needs somebody, or the time is up. The agent of a disconnected session is brought back.
//!
//! # Limits
//! `limits.max_request_bytes` (20 MB), `limits.max_duration_seconds` (3600) of a turn, `limits.rate_per_minute`
//! (120), `limits.max_concurrency` (16). At most 50 turns wait in a session; 8 run at once in all.
//!
//! # Errors
//! 400 `invalid_prompt`, `capability_missing`; 403 `path_not_allowed` (attachments); 404 `session_not_found`,
//! `turn_not_found`, `checkpoint_not_found` (`restore_files`); 409 `session_closed`, `session_busy`,
//! `restore_conflict` (`restore_files`; with `conflicts`), `idempotency_conflict`; 429 `queue_full`,
//! `budget_exceeded`.
//!
//! # Policy
//! `paths` (of `cwd` and `additional_directories`), `commands` (the agent, MCP servers), `variables`,
//! `params.env_deny`, `urls` (MCP servers), `limits`. `restore_files` takes the rules and scopes of
//! `agents_checkpoints_restore`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION/turns \
//!   --json '{"prompt": "add a test for the parser"}'
//! ```

use super::{asking, talking};
use crate::agents::once::{self, Claim};
use crate::agents::turns::wait::{Until, wait};
use crate::agents::turns::{self, view};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use serde_json::json;
use tokio::time::Instant;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let row = talking::session(&call).await?;
    let store = call.app().agents.store().await?;
    let once = match once::claim(&call, store, &body).await? {
        Claim::Again(reply) => return Ok(Reply::ok(&reply)),
        Claim::First(once) => once,
    };
    let wait_ms = body.integer("wait_ms")?.map(u64::try_from).transpose();
    let wait_ms = wait_ms.map_err(|_| ApiError::invalid("wait_ms", "wait_ms must not be negative"))?;
    let patience = asking::patience(wait_ms)?;
    let asked = asking::read(&call, &mut body, &row)?.whole().await?;
    let queued = asking::queue(call.app(), &row.session_id, asked).await?;
    if patience.is_zero() {
        return once.done(json!({"turn": asking::shown(&queued, turns::QUEUED)})).await;
    }
    let deadline = Instant::now() + patience;
    let turn = wait(call.app(), row.no, &queued.turn_id, Until::Attention, deadline).await?;
    let (session_id, content) = (row.session_id, talking::content(&call));
    let mut shown = store.read(move |db| view::whole(db, &session_id, &turn, content)).await?;
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("seq".to_owned(), queued.seq.into());
    }
    once.done(json!({"turn": shown})).await
}
