//! The transcript as whole items: messages, thoughts, tool calls, plans.
//!
//! # Request
//! In the path: `session_id`. In the query: `kinds`, of `user_message`, `agent_message`, `thought`, `tool_call`, `plan`,
//! `question` and `permission`, separated by commas; `turn_id`; `status`; `tool_kind`; `limit` (50); `cursor`; `max_text`,
//! characters of each text (4000).
//!
//! # Response
//! `{"items": [{"item_id", "turn_id", "kind", "role"?, "text"?, "title"?, "tool_kind"?, "status"?, "entries"?, "locations",
//! "truncated", "started_at", "ended_at"?}], "next_cursor"?}`, in the order in which they began. A call that its turn left
//! behind is `unsettled`.
//!
//! # Limits
//! `limits.max_entries` (200), `limits.max_bytes` (4 MB) of one answer; at least one item comes.
//!
//! # Errors
//! 400 `invalid_cursor`, 404 `session_not_found`.
//!
//! # Policy
//! `limits`. The text of tool calls is hidden from callers without `files:read`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" "http://localhost:9000/agents/sessions/$SESSION/items?kinds=agent_message"
//! ```

use super::{recorded, workspaces};
use crate::agents::items::{self, Filter, ItemKind};
use crate::agents::store::page;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use serde_json::json;
use std::sync::Arc;

/// Characters of a text where nobody says otherwise, and the most that lists show.
const USUAL_TEXT: u64 = 4000;
const MOST_TEXT: u64 = 1_000_000;

pub(crate) async fn call(call: Call) -> Answer {
    let session_id = call.param("session_id")?.into_owned();
    // A cursor of one session is none of another.
    let list = format!("items.{session_id}");
    let page = recorded::page(&call, &list)?;
    let unknown = |name: &str| ApiError::invalid("kinds", format!("kinds has no kind `{name}`"));
    let kinds = ItemKind::parse_list(call.query().text("kinds")?.unwrap_or_default()).map_err(unknown)?;
    let filter = Filter {
        kinds,
        turn_id: recorded::text(&call, "turn_id")?,
        status: recorded::text(&call, "status")?,
        tool_kind: recorded::text(&call, "tool_kind")?,
        after: page.after_number()?.unwrap_or(0),
        limit: page.fetch(),
    };
    let max_text = call.query().count("max_text")?.unwrap_or(USUAL_TEXT).min(MOST_TEXT);
    let max_text = i64::try_from(max_text).unwrap_or(i64::MAX);
    let (app, files) = (Arc::clone(call.app()), recorded::files(&call));
    let max_bytes = recorded::max_bytes(&call, 4 << 20);
    drop(call);
    let session = workspaces::session(&app, session_id).await?;
    let read = move |db: &rusqlite::Connection| items::list(db, session.no, &filter, max_text);
    let mut found = app.agents.store().await?.read(read).await?;
    let mut next = page.next(&list, &mut found, |(item, ..)| item.no.to_string());
    let (mut shown, mut bytes) = (Vec::with_capacity(found.len()), 0);
    let mut last = None;
    for (item, body, text) in &found {
        let summary = items::summary(item, body, text, files);
        bytes += summary.to_string().len();
        if bytes > max_bytes
            && let Some(last) = last
        {
            next = Some(page::cursor(&list, &i64::to_string(last)));
            break;
        }
        last = Some(&item.no);
        shown.push(summary);
    }
    let mut answer = json!({"items": shown});
    if let (Some(answer), Some(next)) = (answer.as_object_mut(), next) {
        answer.insert("next_cursor".to_owned(), next.into());
    }
    Ok(Reply::ok(&answer))
}
