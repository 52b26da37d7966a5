//! Stop a stuck agent process and everything under it.
//!
//! # Request
//! The id in the path. Query: `force` (false: SIGKILL comes first), `grace_seconds` (5, at most 30: how long it may take
//! to leave by itself once its input is closed).
//!
//! # Response
//! `{"process_id", "exit_code"?, "signal"?, "killed_children", "sessions_disconnected"}`. Its input is closed, then its
//! group gets SIGTERM, two seconds later SIGKILL, and so does every descendant that has left the group. When this is
//! answered nothing of it is left; its sessions are `disconnected`, their running turns `interrupted`.
//!
//! # Limits
//! `limits.timeout_seconds` (45).
//!
//! # Errors
//! 400 `invalid_parameter`; 404 `process_not_found`, also for one that has ended.
//!
//! # Policy
//! Scope `agents:manage`.
//!
//! ```sh
//! curl -X DELETE 'http://localhost:9000/agents/processes/prc_01JD0000000000000000000000?force=true'
//! ```

use super::no_process;
use crate::agents::process::Phase;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Longest grace: with what SIGTERM and SIGKILL need it stays below the time of a call.
const LONGEST: f64 = 30.0;

pub(crate) async fn call(call: Call) -> Answer {
    let id = call.param("process_id")?.into_owned();
    let force = call.query().flag("force", false)?;
    let grace = match call.query().text("grace_seconds")?.filter(|text| !text.is_empty()) {
        None => 5.0,
        Some(text) => {
            text.parse::<f64>().ok().filter(|seconds| (0.0..=LONGEST).contains(seconds)).ok_or_else(|| {
                ApiError::invalid("grace_seconds", "grace_seconds must be a number from 0 to 30")
            })?
        }
    };
    let process = call.app().agents.processes.get(&id).filter(|process| process.phase() != Phase::Dead);
    let process = process.ok_or_else(|| no_process(&id))?;
    // Goes on where the caller goes away.
    let stop = {
        let process = Arc::clone(&process);
        tokio::spawn(async move { process.stop(Duration::from_secs_f64(grace), force).await })
    };
    let stopped = stop.await.map_err(|_| ApiError::internal("The process could not be stopped"))?;
    let mut answer = json!({
        "process_id": id,
        "killed_children": stopped.killed_children,
        "sessions_disconnected": stopped.session_ids,
    });
    if let Some(answer) = answer.as_object_mut() {
        let ended = stopped.ended;
        answer.extend(ended.exit_code.map(|code| ("exit_code".to_owned(), code.into())));
        answer.extend(ended.signal.map(|signal| ("signal".to_owned(), signal.into())));
    }
    Ok(Reply::ok(&answer))
}
