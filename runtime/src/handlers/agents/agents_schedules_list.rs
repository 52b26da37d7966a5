//! List schedules with next and past runs.
//!
//! # Request
//! In the query: `enabled`, only those that are or are not; `limit`.
//!
//! # Response
//! `{"schedules": [{"schedule_id", "name", "trigger", "timezone", "enabled", "next_at"?, "last_runs": [{"at", "state", "slot"?,
//! "session_id"?, "turn_id"?, "reason"?}], "failures_in_a_row", …}]}`.
//!
//! # Limits
//! `limits.max_entries` (200).
//!
//! # Errors
//! 400 `invalid_parameter`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" 'http://localhost:9000/agents/schedules?enabled=true'
//! ```

use std::sync::Arc;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::super::launch;
use crate::agents::schedules::rows::{self, Schedule};
use crate::agents::schedules::runs;
use crate::endpoint::{Answer, Call, Reply};

/// Runs of each that are shown.
const RUNS: i64 = 10;

pub(crate) async fn call(call: Call) -> Answer {
    let most = launch::limit(&call, |limits| limits.max_entries, 200);
    let query = call.query();
    let enabled = query.text("enabled")?.is_some_and(|text| !text.is_empty());
    let enabled = enabled.then(|| query.flag("enabled", true)).transpose()?;
    let limit = i64::try_from(query.count("limit")?.unwrap_or(most).min(most)).unwrap_or(i64::MAX);
    let app = Arc::clone(call.app());
    drop(call);
    let listed = app.agents.store().await?.read(move |db| {
        let schedules = rows::list(db, enabled, limit)?;
        schedules.iter().map(|schedule| view(db, schedule)).collect::<rusqlite::Result<Vec<Value>>>()
    });
    Ok(Reply::ok(&json!({"schedules": listed.await?})))
}

/// A schedule with its runs, as callers see it.
pub(super) fn view(db: &Connection, schedule: &Schedule) -> rusqlite::Result<Value> {
    let mut view = schedule.view();
    view.insert("last_runs".to_owned(), runs::latest(db, schedule.no, RUNS)?.into());
    Ok(Value::Object(view))
}
