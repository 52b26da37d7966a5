//! Add guidance to the turn that is running now.
//!
//! # Request
//! `prompt` (text or content blocks; required), `fallback` (`queue`, `cancel_and_resend`, `reject`): what to do
//! where the agent takes no word while it works.
//!
//! # Response
//! `{"outcome", "turn_id"}`: `injected` (the turn itself), `queued` or `restarted` (the turn that carries it).
//!
//! # Limits
//! `limits.max_request_bytes` (20 MB), `limits.max_duration_seconds` (3600) of a turn, `limits.rate_per_minute`
//! (120), `limits.max_concurrency` (16).
//!
//! # Errors
//! 400 `invalid_prompt`; 404 `session_not_found`, `turn_not_found`; 409 `turn_finished`, `not_steerable`; 429
//! `queue_full`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION/turns/$TURN/steer \
//!   --json '{"prompt": "leave the parser alone"}'
//! ```

use super::talking;
use crate::agents::ids;
use crate::agents::sessions::actor::{Fallback, OnBusy, TurnAsked};
use crate::agents::turns::prompt::Prompt;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::json;
use tokio::sync::oneshot;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let fallback = match body.text("fallback")?.as_deref() {
        None | Some("queue") => Fallback::Queue,
        Some("cancel_and_resend") => Fallback::CancelAndResend,
        Some("reject") => Fallback::Reject,
        Some(_) => {
            let message = "fallback must be one of queue, cancel_and_resend, reject";
            return Err(ApiError::invalid("fallback", message));
        }
    };
    let prompt = Prompt::read(&mut body)?.ok_or_else(|| ApiError::missing("prompt"))?;
    if !prompt.attachments.is_empty() {
        return Err(ApiError::new(ErrorCode::InvalidPrompt, "a word to a running turn has no attachments"));
    }
    let row = talking::session(&call).await?;
    let turn_id = call.param("turn_id")?.into_owned();
    let asked = TurnAsked {
        turn_id: ids::new(ids::TURN),
        owner: call.principal().id.to_string(),
        blocks: prompt.blocks,
        attached: Vec::new(),
        on_busy: OnBusy::Queue,
        timeout: None,
        schedule_id: None,
        retry_of: None,
        launch: None,
    };
    let (tell, told) = oneshot::channel();
    let app = call.app();
    let steering = app
        .agents
        .live
        .ask(app, &row.session_id, move |actor| Box::pin(actor.steer(turn_id, asked, fallback, tell)));
    steering.await?;
    let steered = told.await.map_err(|_| ApiError::new(ErrorCode::Draining, "The server is stopping"))??;
    Ok(Reply::ok(&json!({"outcome": steered.outcome, "turn_id": steered.turn_id})))
}
