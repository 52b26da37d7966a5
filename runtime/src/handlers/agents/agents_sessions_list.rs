//! List sessions with filters.
//!
//! # Request
//! Query: `agent_id`, `state`, `cwd`, `label` (`name:value`), `parent_id`, `schedule_id`, `archived` (false),
//! `order` (`newest`, `oldest`), `limit`, `cursor`.
//!
//! # Response
//! `{"sessions", "counts", "next_cursor"}`; `counts` has the number of each state under the same filters. Works
//! with every agent stopped.
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
//! curl -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions?state=idle
//! ```

use super::talking;
use crate::agents::sessions::list::{Filter, counts, list};
use crate::agents::sessions::state::State;
use crate::agents::sessions::view;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use serde_json::{Value, json};

const LIST: &str = "sessions";

pub(crate) async fn call(call: Call) -> Answer {
    let page = talking::page(&call, LIST)?;
    let label = talking::text(&call, "label")?;
    let label = label.map(|label| match label.split_once(':') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(ApiError::invalid("label", "label must be a name and a value, as name:value")),
    });
    let filter = Filter {
        agent_id: talking::text(&call, "agent_id")?,
        state: talking::word(&call, "state", &State::ALL.map(State::as_str))?,
        cwd: talking::text(&call, "cwd")?,
        label: label.transpose()?,
        parent_id: talking::text(&call, "parent_id")?,
        schedule_id: talking::text(&call, "schedule_id")?,
        archived: Some(call.query().flag("archived", false)?),
        after: page.after_number()?,
        oldest_first: talking::word(&call, "order", &["newest", "oldest"])?.as_deref() == Some("oldest"),
    };
    let most = page.fetch();
    let store = call.app().agents.store().await?;
    let (mut rows, counts) =
        store.read(move |db| Ok((list(db, &filter, most)?, counts(db, &filter)?))).await?;
    let next = page.next(LIST, &mut rows, |row| row.no.to_string());
    let sessions: Vec<Value> = rows.iter().map(view::summary).collect();
    Ok(Reply::ok(&json!({"sessions": sessions, "counts": counts, "next_cursor": next})))
}
