//! Run a command, output as events; resumable with a command_id.
//!
//! # Request
//! `command`, `cwd`, `env`, `timeout` as on `/shell`; `stdin` (base64, written once, then end of file). With
//! `command_id` the command can be come back to: a known id attaches instead of starting, and without `command` it only
//! attaches. `stdout_offset` and `stderr_offset` say where to go on and acknowledge everything before. `timeout_seconds`
//! (0: as long as the rules allow), `idle_timeout_seconds` (0: 300, -1: never), `ttl_seconds` (0: 600, -1: for ever).
//! `format: "bytes"` selects lossless events.
//!
//! # Response
//! `text/event-stream`: `stdout{data}` and `stderr{data}`, a line each and in the order they came, then `exit{exit_code}`
//! or `error{error, type}`. With a `command_id` each carries `offset`, and `ack_required{stdout_offset, stderr_offset}`
//! ends the answer when 1 MiB waits for an acknowledgement. As bytes: `started{command_id, pid}`,
//! `stdout|stderr{data, offset}` in base64, `stream_end{stream, offset}`, then `exit`, `ack_required` or
//! `error{error_type, error}`. A comment every 15 s keeps a silent answer open.
//!
//! # Limits
//! `limits.timeout_seconds`, `limits.max_duration_seconds` (86400 each), `limits.max_concurrency` (64); 256 commands with
//! an id for each principal.
//!
//! # Errors
//! As `/shell`, and 404 `not_found` for an id that is not known, 409 `conflict` for an offset past the end. A timeout is
//! an event.
//!
//! # Policy
//! `paths` (of `cwd`), `params.allow_commands`, `params.deny_commands`, `params.env_deny`, `limits`.
//!
//! ```sh
//! curl -N -X POST http://localhost:9000/shell/stream -H 'Content-Type: application/json' \
//!   -d '{"command": "sh -c \"echo hello; echo err >&2\"", "timeout": 30}'
//! ```

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::launch;
use super::streaming;
use crate::endpoint::{Answer, Call, JsonBody};
use crate::error::{ApiError, ErrorCode};
use crate::process::resumable::{IDLE, KEPT, MAX_COMMANDS, Patience, StartError};
use crate::process::{EndOnDrop, Full, Job, Kind, Launch, Screen, Stdin, Stream, masking};
use crate::sse::{Feed, Style};

/// How long a command without an id may take where nobody says.
const TIMEOUT: u64 = 300;

/// Bytes that wait for a reader before the command is paused. Fixed: clients of the data plane count on it.
const BUFFER: usize = 1 << 20;

/// Longest id of a command, in bytes.
const LONGEST_ID: usize = 256;

pub(crate) async fn call(mut call: Call) -> Answer {
    launch::native(&call)?;
    let mut body = call.json();
    let id = body.text("command_id")?;
    let format = body.text("format")?;
    let from = [offset(&body, "stdout_offset")?, offset(&body, "stderr_offset")?];
    let style = match format.as_deref() {
        None | Some("lines") => Style::Lines { offsets: id.is_some() },
        Some("bytes") => Style::Bytes,
        Some(_) => return Err(ApiError::invalid("format", "format must be lines or bytes")),
    };
    let Some(id) = id else {
        let job = start(&call, &mut body, Kind::Call)?;
        let end = EndOnDrop(Arc::clone(&job));
        return Ok(streaming::reply(Feed::new(job, [0, 0], style, call.app().stopping.clone(), end)));
    };
    if id.is_empty() || id.len() > LONGEST_ID {
        return Err(ApiError::invalid("command_id", format!("command_id must have 1 to {LONGEST_ID} bytes")));
    }
    let (processes, owner) = (&call.app().processes, launch::owner(&call));
    let known = processes.resumable.attach(&owner, &id);
    let attached = match known {
        Some(attached) => attached,
        None if body.get("command").is_none() => {
            return Err(ApiError::not_found("NotFoundError", "No command has this command_id"));
        }
        None => {
            let patience = patience(&body)?;
            let begun = processes
                .resumable
                .get_or_start(&owner, &id, patience, || start(&call, &mut body, Kind::Command));
            begun.map_err(|error| match error {
                StartError::Failed(error) => error,
                StartError::TooMany => {
                    ApiError::new(ErrorCode::TooManyProcesses, "Too many commands are kept")
                        .with("limit", MAX_COMMANDS)
                        .retry_after(1)
                }
            })?
        }
    };
    let job = Arc::clone(&attached.job);
    check_offsets(&job, from)?;
    job.acknowledge(from);
    let feed = Feed::new(job, from, style, call.app().stopping.clone(), attached).resumable(id);
    Ok(streaming::reply(feed))
}

/// Starts the command of the body.
fn start(call: &Call, body: &mut JsonBody, kind: Kind) -> Result<Arc<Job>, ApiError> {
    let words = launch::command(body)?;
    let time = time(call, body, kind)?;
    let input = match body.text("stdin")? {
        None => Stdin::Empty,
        Some(text) => Stdin::Bytes(
            STANDARD.decode(text).map_err(|_| ApiError::invalid("stdin", "stdin must be standard base64"))?,
        ),
    };
    let directory = launch::directory(call, "cwd", body.text("cwd")?.as_deref())?;
    let program = launch::program(call, words.first().map_or("", String::as_str), &directory)?;
    let environment = launch::environment(call, body.text_map("env")?, &directory)?;
    let launch = Launch {
        program,
        title: masking::display(&words),
        arguments: words,
        environment,
        directory: directory.handle,
        input,
        screen: Screen::Pipes,
        keep: BUFFER,
        full: Full::Pause,
        lifetime: Some(time),
        kind,
        owner: launch::owner(call),
    };
    call.app().processes.spawn(launch).map_err(|error| launch::refused(&error))
}

/// How long it may run. `timeout` is the source document's name, `timeout_seconds` the data plane's, where 0 asks for
/// as long as the rules allow.
fn time(call: &Call, body: &JsonBody, kind: Kind) -> Result<Duration, ApiError> {
    let (name, asked) = match body.number("timeout_seconds")? {
        Some(seconds) => ("timeout_seconds", Some(seconds)),
        None => ("timeout", body.number("timeout")?),
    };
    let most = launch::limit(call, |limits| limits.max_duration_seconds, u64::MAX);
    let unbounded =
        asked == Some(0.0) && name == "timeout_seconds" || asked.is_none() && kind == Kind::Command;
    let asked = asked.filter(|_| !unbounded);
    let default = if unbounded { most } else { TIMEOUT.min(most) };
    let time = launch::time(call, name, asked, default, |limits| limits.timeout_seconds)?;
    if time > Duration::from_secs(most) {
        return Err(
            ApiError::invalid(name, format!("{name} must be at most {most} seconds")).with("limit", most)
        );
    }
    Ok(time)
}

/// How long it may idle and how long it is kept.
fn patience(body: &JsonBody) -> Result<Patience, ApiError> {
    let read = |name: &str, default| match body.integer(name)? {
        None | Some(0) => Ok(Some(default)),
        Some(-1) => Ok(None),
        Some(seconds) => u64::try_from(seconds)
            .map(|seconds| Some(Duration::from_secs(seconds)))
            .map_err(|_| ApiError::invalid(name, format!("{name} must be -1 or a number of seconds"))),
    };
    Ok(Patience { idle: read("idle_timeout_seconds", IDLE)?, kept: read("ttl_seconds", KEPT)? })
}

fn offset(body: &JsonBody, name: &str) -> Result<u64, ApiError> {
    let offset = body.integer(name)?.unwrap_or(0);
    u64::try_from(offset).map_err(|_| ApiError::invalid(name, format!("{name} must not be negative")))
}

/// An offset that no output has reached yet belongs to another command or to a mistake.
fn check_offsets(job: &Job, from: [u64; 2]) -> Result<(), ApiError> {
    let log = job.log();
    for ((stream, name), offset) in
        [(Stream::Stdout, "stdout_offset"), (Stream::Stderr, "stderr_offset")].into_iter().zip(from)
    {
        if offset > log.end(stream) {
            return Err(ApiError::new(
                ErrorCode::Conflict,
                format!("{name} lies past the end of the output"),
            )
            .with("parameter", name));
        }
    }
    Ok(())
}
