//! Finds the background process that a path names, for its owner alone.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use serde::Serialize;

use crate::endpoint::Call;
use crate::error::ApiError;
use crate::process::Job;

/// A background process as every answer shows it.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    pid: i32,
    command: String,
    state: &'static str,
    started_at: f64,
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
}

impl Shown {
    pub(super) fn of(job: &Job) -> Self {
        let exit = job.exit();
        Self {
            pid: job.pid,
            command: job.title.clone(),
            state: if exit.is_some() { "exited" } else { "running" },
            started_at: seconds(job.started_at),
            exit_code: exit.map(|exit| exit.exit_code()),
            signal: exit.and_then(|exit| exit.signal),
        }
    }

    /// A process that outlived the call that it descends from.
    pub(super) fn orphan(orphan: &crate::process::Orphan) -> Self {
        Self {
            pid: orphan.pid,
            command: orphan.title.clone(),
            state: "orphan",
            started_at: seconds(orphan.started_at),
            exit_code: None,
            signal: None,
        }
    }
}

/// A time as the source document writes it: seconds since 1970.
pub(super) fn seconds(time: std::time::SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// The pid in the path.
///
/// # Errors
/// 400 where it is no number of a process.
pub(super) fn pid(call: &Call) -> Result<i32, ApiError> {
    let text = call.param("pid")?;
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if digits { text.parse::<i32>().ok() } else { None };
    number.ok_or_else(|| ApiError::invalid("pid", "pid must be the number of a process"))
}

/// The background process that the path names.
///
/// # Errors
/// 400 where it is no number, 404 where the caller has no such process.
pub(super) fn job(call: &Call) -> Result<Arc<Job>, ApiError> {
    let pid = pid(call)?;
    call.app().processes.managed(pid, |owner| call.principal().sees(owner)).ok_or_else(|| unknown(pid))
}

/// 404 for a pid that the caller has no process of.
pub(super) fn unknown(pid: i32) -> ApiError {
    ApiError::not_found("NotFoundError", format!("Process {pid} is not managed"))
}
