//! One item in full, with tool input, output and terminal text.
//!
//! # Request
//! In the path: `session_id`, `item_id`. In the query: `max_bytes` of its texts (`limits.max_bytes`).
//!
//! # Response
//! `{"item": {…, "content", "text"?, "raw_input"?, "raw_output"?, "entries"?, "request"?, "answer"?, "diffs": [{"path",
//! "old_text", "new_text"}], "terminal"?: {"output", "truncated", "exit_code"?, "signal"?}}}`: what a list shows of it, and
//! all that it was made of. Texts that find no room are cut, and `truncated` is true. `terminal` is null where the agent names
//! one that was never made.
//!
//! # Limits
//! `limits.max_bytes` (4 MB); 16 MiB of the text of one item, 256 KiB of a terminal's output.
//!
//! # Errors
//! 404 `session_not_found`, 404 `item_not_found`.
//!
//! # Policy
//! `limits`. Content, input, output, diffs and terminal of tool calls are hidden from callers without `files:read`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/agents/sessions/$SESSION/items/$ITEM
//! ```

use super::{recorded, workspaces};
use crate::agents::items;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::json;
use std::sync::Arc;

pub(crate) async fn call(call: Call) -> Answer {
    let most = recorded::max_bytes(&call, 4 << 20);
    let max_bytes = call.query().count("max_bytes")?.map_or(most, |asked| recorded::size(asked).min(most));
    let (app, files) = (Arc::clone(call.app()), recorded::files(&call));
    let session_id = call.param("session_id")?.into_owned();
    let item_id = call.param("item_id")?.into_owned();
    drop(call);
    let session = workspaces::session(&app, session_id).await?;
    let read = move |db: &rusqlite::Connection| {
        let found = items::find(db, session.no, &item_id)?;
        found.map(|found| items::full(db, session.no, found, files, max_bytes)).transpose()
    };
    let item = app.agents.store().await?.read(read).await?;
    let item = item.ok_or_else(|| ApiError::new(ErrorCode::ItemNotFound, "There is no such item"))?;
    Ok(Reply::ok(&json!({"item": item})))
}
