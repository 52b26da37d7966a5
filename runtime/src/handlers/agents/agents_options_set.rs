//! Switch mode, model or another option.
//!
//! # Request
//! `option_id` or `category`, and `value` (required).
//!
//! # Response
//! `{"options"}`: all of them, as they are now. The value is chosen again whenever the agent starts anew.
//!
//! # Limits
//! `limits.max_request_bytes` (256 KB), `limits.rate_per_minute` (600), `limits.max_concurrency` (32).
//!
//! # Errors
//! 400 `invalid_value` (with `choices`); 403 `mode_denied` (a mode in which the agent asks nobody, unless the
//! session's policy is `allow_all`); 404 `session_not_found`, `option_not_found`; 409 `session_disconnected`; 502
//! `agent_protocol_error`; 504 `agent_timeout`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION/options \
//!   --json '{"category": "mode", "value": "plan"}'
//! ```

use super::talking;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::json;
use tokio::sync::oneshot;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let key = match (body.text("option_id")?, body.text("category")?) {
        (Some(key), None) | (None, Some(key)) => key,
        (None, None) => return Err(ApiError::missing("option_id")),
        (Some(_), Some(_)) => {
            return Err(ApiError::invalid("category", "only one of option_id and category may be given"));
        }
    };
    let value = body.take("value").ok_or_else(|| ApiError::missing("value"))?;
    let session = talking::session(&call).await?;
    let (tell, told) = oneshot::channel();
    let app = call.app();
    let asked = app.agents.live.ask(app, &session.session_id, move |actor| {
        actor.set_option(&key, value, tell);
        Box::pin(std::future::ready(()))
    });
    asked.await?;
    let options = told.await.map_err(|_| ApiError::new(ErrorCode::Draining, "The server is stopping"))??;
    Ok(Reply::ok(&json!({"options": options})))
}
