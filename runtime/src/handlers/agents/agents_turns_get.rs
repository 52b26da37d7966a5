//! One turn; can wait for it to end or to need a person.
//!
//! # Request
//! Query: `wait_ms` (at most 60000), `until` (`done`, or `attention`: also when it needs somebody).
//!
//! # Response
//! `{"turn"}` with `text`, `stop_reason`, `error`, `usage`, `changes`, `tool_calls` (numbers by status),
//! `pending_requests`, `first_seq` and `last_seq`; as it is when the condition is met or the time is up.
//!
//! # Limits
//! `limits.timeout_seconds` (65), `limits.rate_per_minute` (600), `limits.max_concurrency` (64).
//!
//! # Errors
//! 400 `invalid_parameter`; 404 `session_not_found`, `turn_not_found`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION/turns/$TURN?wait_ms=30000&until=attention
//! ```

use super::{asking, talking};
use crate::agents::turns::view;
use crate::agents::turns::wait::{Until, wait};
use crate::endpoint::{Answer, Call, Reply};
use serde_json::json;
use tokio::time::Instant;

pub(crate) async fn call(call: Call) -> Answer {
    let until = match talking::word(&call, "until", &["done", "attention"])?.as_deref() {
        Some("attention") => Until::Attention,
        _ => Until::Done,
    };
    let deadline = Instant::now() + asking::patience(call.query().count("wait_ms")?)?;
    let session = talking::session(&call).await?;
    let turn_id = call.param("turn_id")?.into_owned();
    let turn = wait(call.app(), session.no, &turn_id, until, deadline).await?;
    let (session_id, content) = (session.session_id.clone(), talking::content(&call));
    let store = call.app().agents.store().await?;
    let mut shown = store.read(move |db| view::whole(db, &session_id, &turn, content)).await?;
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("changes".to_owned(), asking::changes(&call, &session, &turn_id).await);
    }
    Ok(Reply::ok(&json!({"turn": shown})))
}
