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

use axum::http::StatusCode;
use policy_lang::endpoint::ErrorStyle;

use super::super::data_plane;
use super::super::launch::{self, Judged, Manner, Output};
use crate::endpoint::{Answer, Call, Reply};

/// How long a command may take where nobody says.
const TIMEOUT: u64 = 300;

pub(crate) async fn call(mut call: Call) -> Answer {
    if call.door().errors == ErrorStyle::Detail {
        return data_plane::execute(call).await;
    }
    let mut body = call.json();
    let words = launch::command(&mut body)?;
    let time =
        launch::time(&call, "timeout", body.number("timeout")?, TIMEOUT, |limits| limits.timeout_seconds)?;
    let job = Judged::of(&call, words, &mut body)?.start(&call, Manner::of_a_call(&call, time))?;
    let ended = job.to_end().await;
    if ended.exit.timed_out() {
        return Err(launch::timed_out(StatusCode::INTERNAL_SERVER_ERROR, time));
    }
    Ok(Reply::ok(&Output::from(ended)))
}
