//! Change title, labels, policy, budget, archive flag or queue order.
//!
//! # Request
//! Any of `title` (empty: none), `labels` (all of them), `archived`, `policy`, `budget`, `queue_paused`,
//! `queue_order` (every waiting turn, in the order wanted), and `expected_version`.
//!
//! # Response
//! `{"session"}`. A stricter policy holds for open requests at once. Pausing lets the running turn finish.
//!
//! # Limits
//! `limits.max_request_bytes` (1 MB), `limits.rate_per_minute` (120), `limits.max_concurrency` (8).
//!
//! # Errors
//! 400 `invalid_request`, `invalid_queue_order`; 404 `session_not_found`; 409 `version_conflict`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION \
//!   --json '{"queue_paused": true}'
//! ```

use super::talking;
use crate::agents::sessions::actor::Changes;
use crate::agents::sessions::{fault, fields};
use crate::endpoint::{Answer, Call, JsonBody, Reply};
use crate::error::ApiError;
use serde_json::json;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let changes = changes(&mut body)?;
    let session_id = call.param("session_id")?.into_owned();
    let app = call.app();
    app.agents.live.ask(app, &session_id, move |actor| Box::pin(actor.change(changes))).await??;
    Ok(Reply::ok(&json!({"session": talking::shown(&call, &session_id).await?})))
}

fn changes(body: &mut JsonBody) -> Result<Changes, ApiError> {
    let optional = |body: &JsonBody, name: &str| body.get(name).map(|_| body.flag(name, false)).transpose();
    Ok(Changes {
        title: fields::title(body)?,
        labels: fields::labels(body)?,
        archived: optional(body, "archived")?,
        policy: body.take("policy").map(fault::policy).transpose()?,
        budget: body.take("budget").map(fault::budget).transpose()?,
        queue_paused: optional(body, "queue_paused")?,
        queue_order: body.texts("queue_order")?,
        expected_version: body.integer("expected_version")?,
    })
}
