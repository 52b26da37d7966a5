//! Files, images and resources the agent handed over.
//!
//! # Request
//! In the path: `session_id`. In the query: `turn_id`, `limit` (50), `cursor`.
//!
//! # Response
//! `{"artifacts": [{"artifact_id", "name", "mime_type", "bytes", "sha256", "source", "turn_id", "created_at"}],
//! "next_cursor"?}`, in the order in which they came. `source` is `message`, `tool`, `outputs_dir` or `attachment`.
//!
//! # Limits
//! `limits.max_entries` (200).
//!
//! # Errors
//! 400 `invalid_cursor`, 404 `session_not_found`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/agents/sessions/$SESSION/artifacts
//! ```

use super::{recorded, workspaces};
use crate::agents::artifacts;
use crate::endpoint::{Answer, Call, Reply};
use serde_json::json;
use std::sync::Arc;

pub(crate) async fn call(call: Call) -> Answer {
    let session_id = call.param("session_id")?.into_owned();
    let list = format!("artifacts.{session_id}");
    let page = recorded::page(&call, &list)?;
    let (after, limit) = (page.after_number()?.unwrap_or(0), page.fetch());
    let turn_id = recorded::text(&call, "turn_id")?;
    let app = Arc::clone(call.app());
    drop(call);
    let session = workspaces::session(&app, session_id).await?;
    let read =
        move |db: &rusqlite::Connection| artifacts::list(db, session.no, turn_id.as_deref(), after, limit);
    let mut found = app.agents.store().await?.read(read).await?;
    let next = page.next(&list, &mut found, |row| row.no.to_string());
    let mut answer = json!({"artifacts": found});
    if let (Some(answer), Some(next)) = (answer.as_object_mut(), next) {
        answer.insert("next_cursor".to_owned(), next.into());
    }
    Ok(Reply::ok(&answer))
}
