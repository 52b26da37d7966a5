//! Open a terminal session.
//!
//! # Request
//! All optional: `cols` (80), `rows` (24), `shell` (`$SHELL`, `/bin/bash` or `/bin/sh`, the first that is there), `cwd`
//! (`base_dir`), `env` (`{}`).
//!
//! # Response
//! `{"session_id", "ws_url", "pid", "shell"}`. `ws_url` names the address that the server listens on, never what the
//! caller's `Host` says. `shell` is the one that runs.
//!
//! # Limits
//! 10 live sessions; a session with nobody attached for 1800 s ends; `limits.max_duration_seconds` bounds its life.
//!
//! # Errors
//! 400 `invalid_parameter`, `command_not_found`; 403 `shell_not_allowed`, `path_not_allowed`, `variable_not_allowed`;
//! 429 `too_many_sessions`; 500 `spawn_failed`.
//!
//! # Policy
//! `paths` (of `cwd`), `params.shells`, `params.env_deny`, `limits.max_duration_seconds`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/pty/sessions -H 'Content-Type: application/json' -d '{"cols": 120, "rows": 40}'
//! ```

use std::time::Duration;

use serde_json::json;

use super::super::launch::{self, Directory, Judged, Manner};
use crate::endpoint::{Answer, Call, JsonBody, Reply};
use crate::error::{ApiError, ErrorCode};
use crate::process::{Full, Kind, Program, Screen, Stdin};
use crate::pty::protocol;

/// Bytes of scrollback kept of a session.
const SCROLLBACK: usize = 1 << 20;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let columns = size(&body, "cols", 80)?;
    let rows = size(&body, "rows", 24)?;
    let directory = launch::directory(&call, "cwd", body.text("cwd")?.as_deref())?;
    let (shell, program) = shell(&call, body.text("shell")?, &directory)?;
    let mut asked = body.text_map("env")?.unwrap_or_default();
    asked.entry("TERM".to_owned()).or_insert_with(|| "xterm-256color".to_owned());
    let environment = launch::environment(&call, Some(asked), &directory)?;
    let limits = call.permit().rules().map(|rules| rules.limits);
    let lifetime =
        limits.and_then(|limits| limits.max_duration_seconds).map(|limit| Duration::from_secs(limit.value));
    let (title, arguments) = (shell.clone(), vec![shell.clone()]);
    let manner = Manner {
        input: Stdin::Open,
        screen: Screen::Terminal { columns, rows },
        keep: SCROLLBACK,
        full: Full::DropOldest,
        lifetime,
        kind: Kind::Terminal,
    };
    let launch = Judged { program, arguments, environment, directory, title }.launch(&call, manner);
    let app = call.app();
    let session = app.terminals.open(&app.processes, launch, (columns, rows));
    let session = session.map_err(|error| launch::refused(&error))?;
    let url = super::url(app, &session.id);
    Ok(Reply::ok(&json!({"session_id": session.id, "ws_url": url, "pid": session.job.pid, "shell": shell})))
}

/// A width or height: 1 to 65535.
fn size(body: &JsonBody, name: &str, default: u16) -> Result<u16, ApiError> {
    body.get(name).map_or(Ok(default), |value| {
        protocol::size(value)
            .ok_or_else(|| ApiError::invalid(name, format!("{name} must be an integer from 1 to 65535")))
    })
}

/// The shell that was asked for, or the first usual one that is there and allowed.
fn shell(call: &Call, asked: Option<String>, directory: &Directory) -> Result<(String, Program), ApiError> {
    if let Some(shell) = asked {
        let program = launch::shell(call, &shell, directory)?;
        return Ok((shell, program));
    }
    let own = call.app().processes.environment.variables().remove("SHELL");
    let mut refusal = None;
    for shell in own.into_iter().chain(["/bin/bash".to_owned(), "/bin/sh".to_owned()]) {
        match launch::shell(call, &shell, directory) {
            Ok(program) => return Ok((shell, program)),
            // What the rules refuse says more than what is not there.
            Err(error) if refusal.is_none() || error.code() == ErrorCode::ShellNotAllowed => {
                refusal = Some(error)
            }
            Err(_) => {}
        }
    }
    Err(refusal.unwrap_or_else(|| ApiError::new(ErrorCode::CommandNotFound, "no shell was found")))
}
