//! What every door of a resumable command shares: its id, how long it may run, idle and be kept, and offsets.

use std::sync::Arc;
use std::time::Duration;

use super::launch;
use crate::endpoint::{Call, JsonBody};
use crate::error::{ApiError, ErrorCode};
use crate::process::resumable::{Attachment, IDLE, KEPT, MAX_COMMANDS, Patience, StartError};
use crate::process::{Job, Owner, Stream};

/// How long a command without an id may take where nobody says.
const TIMEOUT: u64 = 300;

/// Bytes of each stream that wait for a reader before the command is paused, where the rules say nothing.
const BUFFER: u64 = 1 << 20;

/// The least buffer: with less a command would mostly wait.
const SMALLEST_BUFFER: u64 = 4096;

/// Longest id of a command, in bytes.
const LONGEST_ID: usize = 256;

/// The member `command_id`.
///
/// # Errors
/// 400 `invalid_parameter` where it is no text, empty or too long.
pub(super) fn id(body: &mut JsonBody) -> Result<Option<String>, ApiError> {
    let id = body.text("command_id")?;
    if id.as_ref().is_some_and(|id| id.is_empty() || id.len() > LONGEST_ID) {
        return Err(ApiError::invalid("command_id", format!("command_id must have 1 to {LONGEST_ID} bytes")));
    }
    Ok(id)
}

/// The command of that id: the caller's own, or where that may see all, the only one that is called so.
///
/// # Errors
/// 404 `not_found`.
pub(super) fn find(call: &Call, id: &str) -> Result<Attachment, ApiError> {
    let sees = |owner: &Owner| call.principal().sees(owner);
    let attached = call.app().processes.resumable.attach(&launch::owner(call), id, sees);
    attached.ok_or_else(|| ApiError::not_found("NotFoundError", "No command has this command_id"))
}

/// The caller's command of that id, started unless it is there.
///
/// # Errors
/// 429 `too_many_processes`, and what `start` says.
pub(super) fn get_or_start(
    call: &Call,
    id: &str,
    patience: Patience,
    start: impl FnOnce() -> Result<Arc<Job>, ApiError>,
) -> Result<Attachment, ApiError> {
    let commands = &call.app().processes.resumable;
    commands.get_or_start(&launch::owner(call), id, patience, start).map_err(|error| match error {
        StartError::Failed(error) => error,
        StartError::TooMany => ApiError::new(ErrorCode::TooManyProcesses, "Too many commands are kept")
            .with("limit", MAX_COMMANDS)
            .retry_after(1),
    })
}

/// Bytes of each stream that wait for a reader.
pub(super) fn buffer(call: &Call) -> usize {
    let bytes = launch::limit(call, |limits| limits.max_output_bytes, BUFFER).max(SMALLEST_BUFFER);
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// How long a command may run. `timeout` is the source document's name, `timeout_seconds` the data plane's, where 0 and
/// -1 ask for as long as the rules allow. `unbounded`: what holds where nobody asks.
///
/// # Errors
/// 400 for what is no time, and for more than the rules allow.
pub(super) fn time(call: &Call, body: &JsonBody, unbounded: bool) -> Result<Duration, ApiError> {
    let (name, asked) = match body.number("timeout_seconds")? {
        Some(seconds) => ("timeout_seconds", Some(seconds)),
        None => ("timeout", body.number("timeout")?),
    };
    let most = launch::limit(call, |limits| limits.max_duration_seconds, u64::MAX);
    let everything =
        name == "timeout_seconds" && matches!(asked, Some(seconds) if seconds == 0.0 || seconds == -1.0);
    let asked = asked.filter(|_| !everything);
    let default = if everything || asked.is_none() && unbounded { most } else { TIMEOUT.min(most) };
    let time = launch::time(call, name, asked, default, |limits| limits.timeout_seconds)?;
    if time > Duration::from_secs(most) {
        return Err(too_long(name, most));
    }
    Ok(time)
}

/// How long a command may idle and how long it is kept: 0 is the default, -1 as long as the rules allow.
///
/// # Errors
/// 400 for what is no time, and for more than the rules allow.
pub(super) fn patience(call: &Call, body: &JsonBody) -> Result<Patience, ApiError> {
    let most = call.permit().rules().and_then(|rules| rules.limits.max_duration_seconds);
    let most = most.map(|limit| limit.value);
    let read = |name: &str, default: Duration| match body.integer(name)? {
        None | Some(0) => Ok(Some(most.map_or(default, |most| default.min(Duration::from_secs(most))))),
        Some(-1) => Ok(most.map(Duration::from_secs)),
        Some(seconds) => {
            let seconds = u64::try_from(seconds)
                .map_err(|_| ApiError::invalid(name, format!("{name} must be -1 or a number of seconds")))?;
            match most {
                Some(most) if seconds > most => Err(too_long(name, most)),
                _ => Ok(Some(Duration::from_secs(seconds))),
            }
        }
    };
    Ok(Patience { idle: read("idle_timeout_seconds", IDLE)?, kept: read("ttl_seconds", KEPT)? })
}

/// The members `stdout_offset` and `stderr_offset`.
///
/// # Errors
/// 400 `invalid_parameter`.
pub(super) fn offsets(body: &JsonBody) -> Result<[u64; 2], ApiError> {
    let offset = |name: &str| {
        u64::try_from(body.integer(name)?.unwrap_or(0))
            .map_err(|_| ApiError::invalid(name, format!("{name} must not be negative")))
    };
    Ok([offset("stdout_offset")?, offset("stderr_offset")?])
}

/// An offset that no output has reached yet belongs to another command or to a mistake.
///
/// # Errors
/// 409 `conflict`.
pub(super) fn check_offsets(job: &Job, from: [u64; 2]) -> Result<(), ApiError> {
    let log = job.log();
    for (stream, offset) in [Stream::Stdout, Stream::Stderr].into_iter().zip(from) {
        if offset > log.end(stream) {
            return Err(past_the_end(stream));
        }
    }
    Ok(())
}

/// The answer to an offset that no output has reached.
pub(super) fn past_the_end(stream: Stream) -> ApiError {
    let name = match stream {
        Stream::Stdout => "stdout_offset",
        Stream::Stderr => "stderr_offset",
    };
    ApiError::new(ErrorCode::Conflict, format!("{name} lies past the end of the output"))
        .with("parameter", name)
}

fn too_long(name: &str, most: u64) -> ApiError {
    ApiError::invalid(name, format!("{name} must be at most {most} seconds")).with("limit", most)
}
