//! Delete a schedule; past turns stay.
//!
//! # Request
//! In the path: `schedule_id`.
//!
//! # Response
//! `{"schedule_id", "deleted"}`. A turn that runs goes on.
//!
//! # Limits
//! None but rate and concurrency.
//!
//! # Errors
//! 404 `schedule_not_found`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X DELETE -H "X-Access-Token: $ABX_SERVER_TOKEN" "http://localhost:9000/agents/schedules/$SCHEDULE"
//! ```

use std::sync::Arc;

use serde_json::json;

use crate::agents::schedules::rows;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};

pub(crate) async fn call(call: Call) -> Answer {
    let app = Arc::clone(call.app());
    let schedule_id = call.param("schedule_id")?.into_owned();
    drop(call);
    let asked = schedule_id.clone();
    if !app.agents.store().await?.write(move |db| rows::delete(db, &asked)).await? {
        return Err(ApiError::new(ErrorCode::ScheduleNotFound, "There is no such schedule"));
    }
    Ok(Reply::ok(&json!({"schedule_id": schedule_id, "deleted": true})))
}
