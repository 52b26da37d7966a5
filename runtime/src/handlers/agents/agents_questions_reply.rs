//! Answer a question or form from the agent.
//!
//! # Request
//! `action` (`accept`, `decline`, `cancel`), `content` (the fields of a form, with `accept`).
//!
//! # Response
//! `{"request", "delivered"}`. To a question with a `url`, `accept` is consent alone; that the page is done with is
//! told by the event `question.completed`.
//!
//! # Limits
//! `limits.max_request_bytes` (256 KB), `limits.rate_per_minute` (600), `limits.max_concurrency` (32).
//!
//! # Errors
//! 400 `invalid_answer` (with `problems`, one a field); 404 `request_not_found`; 409 `request_resolved`,
//! `wrong_kind`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/requests/$REQUEST/answer \
//!   --json '{"action": "accept", "content": {"colour": "green"}}'
//! ```

use super::{deciding, talking};
use crate::agents::requests::form;
use crate::agents::requests::rows::RequestRow;
use crate::agents::sessions::actor::{Decided, Outcome};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::{Map, Value, json};

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let action = match body.required_text("action")?.as_str() {
        "accept" => "accept",
        "decline" => "decline",
        "cancel" => "cancel",
        _ => return Err(ApiError::invalid("action", "action must be one of accept, decline, cancel")),
    };
    let content: Option<Map<String, Value>> = body.typed("content", "an object")?;
    let request = deciding::pending(deciding::find(&call).await?, "question")?;
    let content = if action == "accept" { checked(&request, content)? } else { None };
    let outcome = Outcome::Question(action, content);
    match deciding::decide(call.app(), call.principal(), &request, outcome).await? {
        Decided::Done { delivered, .. } => {
            let request = deciding::find(&call).await?.view(talking::content(&call));
            Ok(Reply::ok(&json!({"request": request, "delivered": delivered})))
        }
        Decided::InvalidOption(_) | Decided::Resolved => {
            Err(deciding::resolved(&deciding::find(&call).await?))
        }
    }
}

/// The content as it goes to the agent, if it fits the form. A page has none.
fn checked(request: &RequestRow, content: Option<Map<String, Value>>) -> Result<Option<Value>, ApiError> {
    let Some(schema) = request.body.get("schema") else {
        return match content {
            None => Ok(None),
            Some(_) => Err(ApiError::new(ErrorCode::InvalidAnswer, "The question takes no content")),
        };
    };
    let content = content.unwrap_or_default();
    let problems = form::problems(schema, &content);
    if problems.is_empty() {
        return Ok(Some(content.into()));
    }
    Err(ApiError::new(ErrorCode::InvalidAnswer, "The answer does not fit the form")
        .with("problems", json!(problems)))
}
