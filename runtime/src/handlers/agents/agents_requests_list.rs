//! List permission requests and questions over all sessions.
//!
//! # Request
//! Query: `state` (`pending`; `any` for all), `kind` (`permission`, `question`), `session_id`, `request_id`,
//! `limit`, `cursor`.
//!
//! # Response
//! `{"requests", "next_cursor"}`, the oldest first. What tool calls carry is shown to holders of `files:read`
//! alone.
//!
//! # Limits
//! `limits.max_entries` (200), `limits.max_bytes` (4 MB), `limits.rate_per_minute` (600), `limits.max_concurrency`
//! (32).
//!
//! # Errors
//! 400 `invalid_parameter`, `invalid_cursor`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/requests?kind=permission
//! ```

use super::talking;
use crate::agents::requests::rows::{Filter, list};
use crate::endpoint::{Answer, Call, Reply};
use serde_json::{Value, json};

const LIST: &str = "requests";
const STATES: [&str; 6] = ["pending", "answered", "cancelled", "expired", "lost", "any"];

pub(crate) async fn call(call: Call) -> Answer {
    let page = talking::page(&call, LIST)?;
    let state = talking::word(&call, "state", &STATES)?.unwrap_or_else(|| "pending".to_owned());
    let filter = Filter {
        state: (state != "any").then_some(state),
        kind: talking::word(&call, "kind", &["permission", "question"])?,
        session_id: talking::text(&call, "session_id")?,
        request_id: talking::text(&call, "request_id")?,
        turn_id: None,
        after: page.after_number()?,
    };
    let most = page.fetch();
    let mut rows = call.app().agents.store().await?.read(move |db| list(db, &filter, most)).await?;
    let next = page.next(LIST, &mut rows, |row| row.no.to_string());
    let content = talking::content(&call);
    let requests: Vec<Value> = rows.iter().map(|row| row.view(content)).collect();
    Ok(Reply::ok(&json!({"requests": requests, "next_cursor": next})))
}
