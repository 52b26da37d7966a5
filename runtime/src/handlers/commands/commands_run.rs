//! Run one registered command.
//!
//! # Request
//! The body holds the command's arguments by name. A value is converted to the declared type where it means one: `"3"`
//! is an integer, `"yes"` a boolean. `null` is an absent argument.
//!
//! # Response
//! `{"result": <what the command yields>}`: text for a program unless it is declared to print JSON, what the function
//! returns otherwise.
//!
//! # Limits
//! `limits.timeout_seconds` (300) and `limits.max_output_bytes` (16 MiB), or less where the command's own limits say so;
//! `limits.max_request_bytes` (16 MiB), `limits.max_concurrency` (16).
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`; 403 `missing_scope`, whether or not there is such a command; 404
//! `not_found`, also where the caller lacks a scope of the command's own; 500 `timeout`, `spawn_failed`, and `internal` with
//! the name of what went wrong as `type`.
//!
//! # Policy
//! `scopes`, `limits`, `audit`. The template's author chose the program; rules about commands and paths of callers do not
//! judge it.
//!
//! ```sh
//! curl -X POST http://localhost:9000/commands/hello -H 'Content-Type: application/json' -d '{"name": "Qoder"}'
//! ```

use crate::app::{App, index};
use crate::commands::arguments::{self, ArgumentError};
use crate::commands::{Action, Arguments, Event, ProgramError, Run, is_name};
use crate::endpoint::{Answer, Call, Reply, ReplyBody};
use crate::error::{ApiError, ErrorCode};
use crate::handlers::{custom, launch};
use crate::process::ToolError;
use axum::http::StatusCode;
use policy_lang::endpoint::EndpointId;
use rustix::fs::{Mode, OFlags};
use serde_json::{Value, json};
use std::time::Duration;

/// How long a command may take where nobody says.
const TIMEOUT: u64 = 300;

/// Bytes of output where nobody says.
const OUTPUT: u64 = 16 << 20;

/// Bytes that `{"result":…}` adds.
const WRAPPING: u64 = 12;

pub(crate) async fn call(mut call: Call) -> Answer {
    let name = call.param("name")?.into_owned();
    if !is_name(&name) {
        return Err(ApiError::invalid("name", "name must consist of letters, digits, '_', '-' and '.'"));
    }
    let given = call.json().into_members();
    let app = call.app();
    let Some(command) = app.commands.registry.find(&name, &call.principal().scopes) else {
        return Err(unknown(&call, &name));
    };
    let arguments = arguments::convert(&command.arguments, given).map_err(|error| refused(&error))?;
    let time = Duration::from_secs(launch::limit(&call, |limits| limits.timeout_seconds, TIMEOUT));
    let keep = launch::limit(&call, |limits| limits.max_output_bytes, OUTPUT);
    let time = command.limits.timeout.map_or(time, |own| own.min(time));
    let keep = command.limits.max_output_bytes.map_or(keep, |own| own.min(keep));
    let result = match &command.action {
        Action::Program(program) => {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let base = call.permit().state().policy.base_dir();
            let directory = rustix::fs::open(base, flags, Mode::empty())
                .map_err(|_| ApiError::internal("The base directory cannot be opened"))?;
            let title = format!("command {name}");
            let run = Run { title, directory, time, keep, owner: launch::owner(&call) };
            program.run(&app.processes, &arguments, run).await.map_err(|error| failed(&error))?
        }
        Action::Function(function) => {
            let run = tokio::time::timeout(time, (function.0)(arguments)).await;
            let result = run.map_err(|_| launch::timed_out(StatusCode::INTERNAL_SERVER_ERROR, time))?;
            result.map_err(|error| ApiError::internal(error.message).kind(error.kind))?
        }
        Action::Worker => in_worker(app, &name, arguments, time).await?,
    };
    let answer = Reply::ok(&json!({"result": result}));
    match &answer.body {
        ReplyBody::Full(text) if text.len() as u64 > keep.saturating_add(WRAPPING) => {
            Err(failed(&ProgramError::TooLong(keep)))
        }
        _ => Ok(answer),
    }
}

/// Calls the function of the template.
async fn in_worker(app: &App, name: &str, arguments: Arguments, time: Duration) -> Result<Value, ApiError> {
    let worker = app.commands.worker.as_ref();
    let worker = worker.ok_or_else(|| ApiError::internal("The command has no function"))?;
    let asked = worker.call(json!({"command": name, "arguments": arguments}));
    let mut pending = asked.await.map_err(|error| custom::unavailable(&error))?;
    match tokio::time::timeout(time, pending.next()).await {
        Ok(Event::Result(result)) => Ok(result),
        Ok(other) => Err(custom::failed(other)),
        Err(_) => {
            pending.give_up();
            Err(launch::timed_out(StatusCode::INTERNAL_SERVER_ERROR, time))
        }
    }
}

/// The answer to a name that the caller knows no command of; it lists only what the caller may see.
fn unknown(call: &Call, name: &str) -> ApiError {
    let policy = &call.permit().state().policy;
    let holder = &call.principal().scopes;
    let listed: Vec<&str> =
        policy.endpoint(index(EndpointId::CommandsRun)).map_or_else(Vec::new, |running| {
            let listed = call.app().commands.registry.listed(holder, &running.scopes.value);
            listed.map(|command| command.name.as_str()).collect()
        });
    let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
    ApiError::not_found("ValueError", format!("Unknown command '{name}'; available: {listed}"))
}

fn refused(error: &ArgumentError) -> ApiError {
    let code = match error {
        ArgumentError::Missing(_) => ErrorCode::MissingParameter,
        ArgumentError::Unknown { .. } | ArgumentError::Type { .. } => ErrorCode::InvalidParameter,
    };
    ApiError::new(code, error.to_string()).with("parameter", error.argument())
}

/// The answer to a program without a result. Its own words are the template's; the server adds none of its machine.
fn failed(error: &ProgramError) -> ApiError {
    match error {
        ProgramError::NotStarted(ToolError::Absent(_)) => {
            ApiError::new(ErrorCode::SpawnFailed, "The program of this command is not installed")
                .kind("FileNotFoundError")
        }
        ProgramError::NotStarted(ToolError::Variable(error)) => {
            ApiError::invalid("arguments", error.to_string())
        }
        ProgramError::NotStarted(ToolError::Spawn(error)) => launch::refused(error),
        ProgramError::Timeout(time) => launch::timed_out(StatusCode::INTERNAL_SERVER_ERROR, *time),
        ProgramError::Failed { exit, stderr } => ApiError::internal(error.to_string())
            .kind("CalledProcessError")
            .with("exit_code", exit.exit_code())
            .with("stderr", stderr.as_str()),
        ProgramError::TooLong(limit) => {
            ApiError::internal(error.to_string()).kind("ValueError").with("limit", *limit)
        }
        ProgramError::NotJson(_) => ApiError::internal(error.to_string()).kind("JSONDecodeError"),
    }
}
