//! The agent's current to-do list, with past versions.
//!
//! # Request
//! Query: `history` (false).
//!
//! # Response
//! `{"entries", "progress", "updated_at", "source", "history"}`: `source` is `plan`, or `todo_tool` where the agent
//! only runs a tool for its list. `history` has the versions before, the newest first.
//!
//! # Limits
//! `limits.max_entries` (200), `limits.max_bytes` (4 MB), `limits.rate_per_minute` (600), `limits.max_concurrency`
//! (32).
//!
//! # Errors
//! 404 `session_not_found`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION/plan?history=true
//! ```

use super::talking;
use crate::agents::plan::{Entry, Progress, rows};
use crate::endpoint::{Answer, Call, Reply};
use serde_json::json;

pub(crate) async fn call(call: Call) -> Answer {
    let history = call.query().flag("history", false)?;
    let session = talking::session(&call).await?.no;
    let store = call.app().agents.store().await?;
    let (plan, earlier) = store
        .read(move |db| {
            let earlier = if history { Some(rows::history(db, session)?) } else { None };
            Ok((rows::latest(db, session)?, earlier))
        })
        .await?;
    let none: &[Entry] = &[];
    let mut shown = json!({
        "entries": plan.as_ref().map_or(none, |plan| plan.entries.as_slice()),
        "progress": plan.as_ref().map_or_else(Progress::default, |plan| plan.progress()),
        "updated_at": plan.as_ref().map(|plan| plan.updated_at),
        "source": plan.as_ref().map(|plan| plan.source),
    });
    if let (Some(earlier), Some(shown)) = (earlier, shown.as_object_mut()) {
        shown.insert("history".to_owned(), json!(earlier));
    }
    Ok(Reply::ok(&shown))
}
