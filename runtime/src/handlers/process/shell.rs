//! Run a command to its end.
//!
//! # Request
//! `command` (required; split as a POSIX shell splits words and run without a shell), `cwd` (`base_dir`), `env` (`{}`),
//! `timeout` in seconds (300).
//!
//! # Response
//! `{"stdout", "stderr", "exit_code"}`. Where a signal ended it, `exit_code` is its number negated and `signal` is there
//! too. `stdout_truncated` and `stderr_truncated` stand where output was longer than the limit: then the beginning is kept.
//!
//! # Limits
//! `limits.timeout_seconds` (300), `limits.max_output_bytes` of each stream (16 MiB), `limits.max_concurrency` (32).
//! Descendants that the command leaves running live on; a timeout or a client that goes away ends everything.
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`, `command_not_found`; 403 `command_not_allowed`, `path_not_allowed`,
//! `path_denied`, `symlink_denied`, `variable_not_allowed`; 413 `request_too_large`; 500 `timeout`, `spawn_failed`.
//!
//! # Policy
//! `paths` (of `cwd`), `params.allow_commands`, `params.deny_commands`, `params.shells`, `params.env_deny`, `limits`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/shell -H 'Content-Type: application/json' -d '{"command": "ls -la /tmp"}'
//! ```

use std::sync::Arc;

use axum::http::StatusCode;
use policy_lang::endpoint::ErrorStyle;
use serde::Serialize;

use super::super::{data_plane, launch};
use crate::endpoint::{Answer, Call, Reply};
use crate::process::{EndOnDrop, Full, Kind, Launch, Screen, Stdin, Stream, masking};

/// How long a command may take where nobody says.
const TIMEOUT: u64 = 300;

/// Bytes kept of each stream where the rules say nothing.
const OUTPUT: u64 = 16 << 20;

#[derive(Debug, Serialize)]
struct Response {
    stdout: String,
    stderr: String,
    exit_code: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stdout_truncated: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stderr_truncated: bool,
}

pub(crate) async fn call(mut call: Call) -> Answer {
    if call.door().errors == ErrorStyle::Detail {
        return data_plane::execute(call).await;
    }
    let mut body = call.json();
    let words = launch::command(&mut body)?;
    let time =
        launch::time(&call, "timeout", body.number("timeout")?, TIMEOUT, |limits| limits.timeout_seconds)?;
    let directory = launch::directory(&call, "cwd", body.text("cwd")?.as_deref())?;
    let first = words.first().map_or("", String::as_str);
    let program = launch::program(&call, first, &directory)?;
    let environment = launch::environment(&call, body.text_map("env")?, &directory)?;
    let keep = launch::limit(&call, |limits| limits.max_output_bytes, OUTPUT);
    let job = call
        .app()
        .processes
        .spawn(Launch {
            program,
            title: masking::display(&words),
            arguments: words,
            environment,
            directory: directory.handle,
            input: Stdin::Empty,
            screen: Screen::Pipes,
            keep: usize::try_from(keep).unwrap_or(usize::MAX),
            full: Full::KeepHead,
            lifetime: Some(time),
            kind: Kind::Call,
            owner: launch::owner(&call),
        })
        .map_err(|error| launch::refused(&error))?;
    let _end = EndOnDrop(Arc::clone(&job));
    let exit = job.ended().await;
    if exit.timed_out() {
        return Err(launch::timed_out(StatusCode::INTERNAL_SERVER_ERROR, time));
    }
    let log = job.log();
    let text = |stream| {
        let (_, bytes) = log.slice(stream, 0, usize::MAX);
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    };
    Ok(Reply::ok(&Response {
        stdout: text(Stream::Stdout),
        stderr: text(Stream::Stderr),
        exit_code: exit.exit_code(),
        signal: exit.signal,
        stdout_truncated: log.truncated(Stream::Stdout),
        stderr_truncated: log.truncated(Stream::Stderr),
    }))
}
