//! Tokens and cost by session, agent, turn or day.
//!
//! # Request
//! In the query: `group_by`, `session`, `agent`, `turn` or `day` (`session`); `session_id`; `agent_id`; `from` and `to`, epoch
//! seconds between which a turn must have begun.
//!
//! # Response
//! `{"rows": [{"key", "turns", "input_tokens"?, "output_tokens"?, "thought_tokens"?, "cached_read_tokens"?,
//! "cached_write_tokens"?, "cost"?: {"amount", "currency"}, "context"?: {"used", "size"}, "reported"}], "totals"}`, in the
//! order of their keys. `reported` says what agents told: `full`, `context_only`, `cost_only` or `none`. How full a context is
//! comes from its last report and is never added up. Where costs are in several currencies, `costs` lists them.
//!
//! # Limits
//! `limits.max_entries` (200) rows; `truncated` says that there are more.
//!
//! # Errors
//! 400 `invalid_range`, 404 `session_not_found`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" "http://localhost:9000/agents/usage?group_by=day"
//! ```

use super::super::launch;
use super::{recorded, workspaces};
use crate::agents::usage::{Grouping, Span, report};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::json;
use std::sync::Arc;

pub(crate) async fn call(call: Call) -> Answer {
    let grouping = match call.query().text("group_by")? {
        None | Some("" | "session") => Grouping::Session,
        Some("agent") => Grouping::Agent,
        Some("turn") => Grouping::Turn,
        Some("day") => Grouping::Day,
        Some(_) => {
            return Err(ApiError::invalid("group_by", "group_by must be session, agent, turn or day"));
        }
    };
    let span = Span {
        session_id: recorded::text(&call, "session_id")?,
        agent_id: recorded::text(&call, "agent_id")?,
        from: time(&call, "from")?,
        to: time(&call, "to")?,
    };
    ordered(span.from, span.to)?;
    let most = recorded::size(launch::limit(&call, |limits| limits.max_entries, 200));
    let app = Arc::clone(call.app());
    drop(call);
    if let Some(session_id) = &span.session_id {
        workspaces::session(&app, session_id.clone()).await?;
    }
    let mut found = app.agents.store().await?.read(move |db| report(db, grouping, &span)).await?;
    let truncated = found.rows.len() > most;
    found.rows.truncate(most);
    Ok(Reply::ok(&json!({"rows": found.rows, "totals": found.totals, "truncated": truncated})))
}

fn time(call: &Call, name: &str) -> Result<Option<f64>, ApiError> {
    let Some(text) = call.query().text(name)?.filter(|text| !text.is_empty()) else { return Ok(None) };
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.map(Some).ok_or_else(|| invalid_range(name, format!("{name} must be a time in epoch seconds")))
}

/// 400 `invalid_range` where `from` is behind `to`.
pub(super) fn ordered(from: Option<f64>, to: Option<f64>) -> Result<(), ApiError> {
    match (from, to) {
        (Some(from), Some(to)) if from > to => {
            Err(invalid_range("from", "from must not be later than to".to_owned()))
        }
        _ => Ok(()),
    }
}

fn invalid_range(parameter: &str, message: String) -> ApiError {
    ApiError::new(ErrorCode::InvalidRange, message).with("parameter", parameter)
}
