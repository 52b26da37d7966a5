//! List restore points.
//!
//! # Request
//! In the path: `session_id`. In the query: `limit` (50), `cursor`.
//!
//! # Response
//! `{"checkpoints": [{"checkpoint_id", "kind", "label"?, "turn_id"?, "created_at", "files", "bytes", "skipped": [{"path", "why"}],
//! "reason"?}], "next_cursor"?}`, newest first. `kind` is `auto` (before a turn), `manual` or `safety` (before a restore).
//! One with a `reason` holds nothing: the workspace could not be kept.
//!
//! # Limits
//! `limits.max_entries` (200).
//!
//! # Errors
//! 404 `session_not_found`, 400 `invalid_cursor`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" "http://localhost:9000/agents/sessions/$SESSION/checkpoints"
//! ```

use std::sync::Arc;

use serde_json::json;

use super::super::launch;
use super::workspaces;
use crate::agents::store::page::Page;
use crate::agents::workspace::records;
use crate::endpoint::{Answer, Call, Reply};

/// The name of this list in its cursors.
const LIST: &str = "checkpoints";

pub(crate) async fn call(call: Call) -> Answer {
    let most = launch::limit(&call, |limits| limits.max_entries, 200);
    let query = call.query();
    let page = Page::new(LIST, query.count("limit")?, query.text("cursor")?, most)?;
    let before = page.after_number()?;
    let app = Arc::clone(call.app());
    let session_id = call.param("session_id")?.into_owned();
    drop(call);
    let session = workspaces::session(&app, session_id).await?;
    let (no, fetch) = (session.no, page.fetch());
    let mut points = app.agents.store().await?.read(move |db| records::list(db, no, before, fetch)).await?;
    let next = page.next(LIST, &mut points, |point| point.no.to_string());
    let points: Vec<_> = points.iter().map(records::Checkpoint::view).collect();
    let mut answer = json!({"checkpoints": points});
    if let (Some(next), Some(answer)) = (next, answer.as_object_mut()) {
        answer.insert("next_cursor".to_owned(), next.into());
    }
    Ok(Reply::ok(&answer))
}
