//! Run one task to the end in a fresh session and return the result.
//!
//! # Request
//! `agent_id`, `cwd` and `prompt` (or `command`) (required), `attachments`, the further fields of
//! `agents_sessions_create`, `timeout_seconds` (1800), `keep_session` (true).
//!
//! # Response
//! `{"session_id", "turn", "text", "stop_reason", "usage", "pending_requests"}`, and what the turn changed on disk
//! as `changes`, once the turn has ended and the session is closed; without `keep_session` it is deleted then.
//! Where a request needs a person it answers at once with `"state": "waiting"` and leaves the session open.
//!
//! # Limits
//! `limits.max_request_bytes` (20 MB), `limits.max_duration_seconds` (3600) of a turn, `limits.rate_per_minute`
//! (120), `limits.max_concurrency` (16). At most 32 sessions are open and 8 turns run at once.
//!
//! # Errors
//! As `agents_sessions_create` and `agents_turns_start`; 504 `turn_timeout` with `session_id` and `turn_id` (the
//! turn is cancelled).
//!
//! # Policy
//! `paths` (of `cwd` and `additional_directories`), `commands` (the agent, MCP servers), `variables`,
//! `params.env_deny`, `urls` (MCP servers), `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/runs \
//!   --json '{"agent_id": "opencode", "cwd": "/home/user/project", "prompt": "add a test"}'
//! ```

use super::{asking, talking};
use crate::agents::once::{self, Claim};
use crate::agents::process::Judge;
use crate::agents::sessions::actor::How;
use crate::agents::sessions::cancelling;
use crate::agents::sessions::delete::{Wanted, close, delete};
use crate::agents::sessions::fields::Fields;
use crate::agents::sessions::open::{self, Origin};
use crate::agents::turns::wait::{Until, wait};
use crate::agents::turns::{self, view};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// How long a task may take where nobody says.
const USUAL: Duration = Duration::from_secs(1800);

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let store = call.app().agents.store().await?;
    let once = match once::claim(&call, store, &body).await? {
        Claim::Again(reply) => return Ok(Reply::ok(&reply)),
        Claim::First(once) => once,
    };
    let most = super::super::launch::limit(&call, |limits| limits.max_duration_seconds, 3600);
    let patience = talking::seconds(&body, "timeout_seconds", USUAL, Duration::from_secs(most))?;
    body.take("timeout_seconds");
    let keep = body.flag("keep_session", true)?;
    if body.get("prompt").or_else(|| body.get("command")).is_none() {
        return Err(ApiError::missing("prompt"));
    }
    let fields = Fields::read(&mut body)?;
    call.note().touches(fields.cwd.as_str());
    let deadline = Instant::now() + patience;
    let judge = Judge::of(call.permit());
    let owner = call.principal().id.to_string();
    let opened = open::open(call.app(), &judge, &owner, fields, Origin::default(), How::New).await?;
    let (session_id, number) = (opened.0.session_id.clone(), opened.0.no);
    let asked = match asking::read(&call, &mut body, &opened.0) {
        Ok(reading) => reading.whole().await,
        Err(error) => Err(error),
    };
    let asked = match asked {
        Ok(asked) => asked,
        Err(error) => {
            // A session that was opened for a prompt which cannot be sent serves nobody.
            delete(call.app(), &session_id, Wanted { native: false, force: true }).await?;
            return Err(error);
        }
    };
    let queued = asking::queue(call.app(), &session_id, asked).await?;
    let turn = wait(call.app(), number, &queued.turn_id, Until::Attention, deadline).await?;
    if !turns::is_over(&turn.state) && turn.state != turns::WAITING {
        cancelling::cancel(call.app(), &session_id, number, &queued.turn_id, cancelling::USUAL, true).await?;
        close(call.app(), &session_id, true).await?;
        return Err(ApiError::new(ErrorCode::TurnTimeout, "The task took longer than it may")
            .with("session_id", session_id)
            .with("turn_id", queued.turn_id));
    }
    let over = turns::is_over(&turn.state);
    let (name, content) = (session_id.clone(), talking::content(&call));
    let shown = store.read(move |db| view::whole(db, &name, &turn, content)).await?;
    let changes = asking::changes(&call, &opened.0, &queued.turn_id).await;
    if over {
        close(call.app(), &session_id, false).await?;
        if !keep {
            delete(call.app(), &session_id, Wanted { native: true, force: true }).await?;
        }
    }
    let member = |name: &str| shown.get(name).cloned().unwrap_or(Value::Null);
    once.done(json!({
        "session_id": session_id, "state": member("state"), "text": member("text"),
        "stop_reason": member("stop_reason"), "usage": member("usage"), "changes": changes,
        "pending_requests": member("pending_requests"), "turn": shown,
    }))
    .await
}
