//! Run a schedule now.
//!
//! # Request
//! In the path: `schedule_id`. In the body: `ignore_overlap` (false).
//!
//! # Response
//! `{"turn": {"turn_id", "state", "seq"}, "session_id"}`. It runs as the one who made the schedule, and does not move its next slot. A
//! schedule that is disabled can be run as well.
//!
//! # Limits
//! As for a prompt.
//!
//! # Errors
//! 404 `schedule_not_found`, 409 `overlap`, and what opening a session or starting a turn answers.
//!
//! # Policy
//! `paths`, `params.allow_commands`, `params.deny_commands`, `params.env_deny`, the URL rules, `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $ABX_SERVER_TOKEN" "http://localhost:9000/agents/schedules/$SCHEDULE/trigger"
//! ```

use std::sync::Arc;

use serde_json::json;

use crate::agents::schedules::rows;
use crate::agents::schedules::runs::{self, Claim};
use crate::agents::schedules::start::start;
use crate::agents::store::now;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};

pub(crate) async fn call(mut call: Call) -> Answer {
    let ignore_overlap = call.json().flag("ignore_overlap", false)?;
    let app = Arc::clone(call.app());
    let schedule_id = call.param("schedule_id")?.into_owned();
    drop(call);
    let store = app.agents.store().await?;
    let claimed = store.write(move |db| {
        runs::settle(db)?;
        let Some(schedule) = rows::find(db, &schedule_id)? else { return Ok(None) };
        let run = runs::by_hand(db, schedule.no, now(), ignore_overlap)?;
        Ok(Some(run.map(|run| Claim { run, schedule })))
    });
    let claim = claimed
        .await?
        .ok_or_else(|| ApiError::new(ErrorCode::ScheduleNotFound, "There is no such schedule"))?;
    let claim =
        claim.ok_or_else(|| ApiError::new(ErrorCode::Overlap, "The last run of the schedule goes on"))?;
    app.agents.automation.begin(&app).await?;
    // A caller that goes away ends no run that was claimed.
    let (running, kept) = (Arc::clone(&app), store.clone());
    let started = tokio::spawn(async move { start(&running, &kept, claim).await }).await;
    let started = started.map_err(|_| ApiError::internal("The run was not started"))??;
    let turn = json!({"turn_id": started.turn_id, "state": "queued", "seq": started.seq});
    Ok(Reply::ok(&json!({"turn": turn, "session_id": started.session_id})))
}
