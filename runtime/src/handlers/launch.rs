//! What every handler that starts a process does between the wire and the engine: directory, program, variables, time.
//!
//! Each step asks the policy about what it has found, in the order of the gates; nothing has started when one refuses.

mod manner;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use axum::http::StatusCode;
use policy_lang::decide::{CommandQuery, Decision, Op, Query, VariableQuery, VariableUse, decide};
use policy_lang::policy::{Limits, Ruled};

use super::file_ops;
use crate::endpoint::{Call, JsonBody};
use crate::error::{ApiError, ErrorCode};
use crate::guard::{EndpointRules, GuardError, NormalPath};
use crate::process::{FindError, Owner, Program, SpawnError, VariableError, words};

pub(super) use manner::{Judged, Manner, Output};

/// A working directory: open, and by name.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) handle: OwnedFd,
    pub(super) path: String,
}

/// Who a process will belong to.
pub(super) fn owner(call: &Call) -> Owner {
    Owner::from(&*call.principal().id)
}

/// Opens the directory of the parameter `name`, or `base_dir` where it is absent.
///
/// # Errors
/// 400 where it is no directory, 403 where the rules do not let a program start there.
pub(super) fn directory(call: &Call, name: &str, asked: Option<&str>) -> Result<Directory, ApiError> {
    let permit = call.permit();
    let guard = &permit.state().guard;
    let rules = permit.rules().and_then(EndpointRules::of);
    let rules = rules.ok_or_else(|| ApiError::internal("The endpoint takes no paths"))?;
    let asked = asked.map_or(guard.base_dir(), str::as_bytes);
    let opened = NormalPath::new(guard.base_dir(), asked)
        .and_then(|path| guard.directory(&rules, &path, Op::Run))
        .map_err(|error| match error {
            GuardError::NotFound | GuardError::NotADirectory => {
                ApiError::invalid(name, format!("{name} is not a directory"))
            }
            error => file_ops::of_guard(permit, name, error),
        })?;
    Ok(Directory { handle: opened.fd, path: String::from_utf8_lossy(&opened.path).into_owned() })
}

/// The words of the parameter `command`, at least one.
///
/// # Errors
/// 400 where it is absent, empty or no command line.
pub(super) fn command(body: &mut JsonBody) -> Result<Vec<String>, ApiError> {
    let text = body.required_text("command")?;
    let words =
        words::split(&text).map_err(|error| ApiError::invalid("command", format!("command: {error}")))?;
    if words.is_empty() {
        Err(ApiError::invalid("command", "command must be a non-empty string"))
    } else {
        Ok(words)
    }
}

/// Finds the program and asks the policy whether it may run.
///
/// # Errors
/// 403 `command_not_allowed`, 400 `command_not_found`.
pub(super) fn program(call: &Call, argv0: &str, directory: &Directory) -> Result<Program, ApiError> {
    let found = call.app().processes.programs.find(argv0, directory.handle.as_fd());
    let (at, target) = match &found {
        Ok(program) => (Some(program.found().to_string_lossy()), Some(program.path().to_string_lossy())),
        Err(_) => (None, None),
    };
    let mut query = call.permit().query();
    query.command = Some(CommandQuery { argv0, found: at.as_deref(), target: target.as_deref() });
    call.permit().check(&query)?;
    found.map_err(|error| match error {
        FindError::Unavailable => ApiError::new(ErrorCode::SpawnFailed, "The program cannot be opened now"),
        error => ApiError::new(ErrorCode::CommandNotFound, error.to_string()).with("parameter", "command"),
    })
}

/// Finds a shell and asks the policy whether it may be used and run.
///
/// # Errors
/// 403 `shell_not_allowed` or `command_not_allowed`, 400 `command_not_found`.
pub(super) fn shell(call: &Call, name: &str, directory: &Directory) -> Result<Program, ApiError> {
    let mut query = Query::of(call.permit().endpoint());
    query.shell = Some(name);
    ask(call, &query)?;
    program(call, name, directory).map_err(|error| match error.code() {
        ErrorCode::CommandNotFound => error.with("parameter", "shell"),
        _ => error,
    })
}

/// The variables of the child: what it inherits, what the request brings, and where it starts.
///
/// # Errors
/// 400 for what is no variable, 403 `variable_not_allowed`.
pub(super) fn environment(
    call: &Call,
    asked: Option<BTreeMap<String, String>>,
    directory: &Directory,
) -> Result<Vec<CString>, ApiError> {
    let mut asked = asked.unwrap_or_default();
    let carried: Vec<VariableQuery<'_>> =
        asked.keys().map(|name| VariableQuery { name, usage: VariableUse::Carry }).collect();
    let environment = &call.app().processes.environment;
    for (name, value) in &asked {
        environment.check(name, value).map_err(|error| variable(call, "env", &error))?;
    }
    ask_variables(call, &carried)?;
    asked.insert("PWD".to_owned(), directory.path.clone());
    let denied = call.permit().rules().and_then(|rules| rules.params.env.as_deref());
    environment
        .block(&asked, |name| denied.is_some_and(|rules| rules.refuses(name).is_some()))
        .map_err(|error| variable(call, "env", &error))
}

/// Asks the policy about variables.
///
/// # Errors
/// 403 `variable_not_allowed`, naming the rule. The answer does not borrow from the names.
pub(super) fn ask_variables(call: &Call, named: &[VariableQuery<'_>]) -> Result<(), ApiError> {
    let mut query = Query::of(call.permit().endpoint());
    query.variables = named;
    ask(call, &query)
}

/// Asks the policy. Unlike [`Permit::check`](crate::pipeline::admit::Permit::check), what the query borrows need not
/// outlive the call.
///
/// # Errors
/// The refusal of the first gate that refuses.
pub(super) fn ask(call: &Call, query: &Query<'_>) -> Result<(), ApiError> {
    let permit = call.permit();
    let policy = &permit.state().policy;
    match decide(policy, query) {
        Decision::Allow => Ok(()),
        Decision::Deny(denial) => Err(ApiError::denied(policy, query.endpoint, &denial)),
    }
}

/// The answer to a variable that is not accepted; `parameter` is where it came in.
pub(super) fn variable(call: &Call, parameter: &str, error: &VariableError) -> ApiError {
    match error {
        VariableError::Malformed(_) | VariableError::TooLong(_) => {
            ApiError::invalid(parameter, error.to_string())
        }
        VariableError::Refused { .. } => ApiError::new(ErrorCode::VariableNotAllowed, error.to_string())
            .with("endpoint", call.declared().name)
            .with("parameter", parameter)
            .rule("default:base"),
    }
}

/// The time of a call: what was asked for, at most what the rules allow, `default` where nothing was asked.
///
/// # Errors
/// 400 for what is no positive number, and for more than the rules allow.
pub(super) fn time(
    call: &Call,
    name: &str,
    asked: Option<f64>,
    default: u64,
    limit: impl Fn(&Limits) -> Option<Ruled<u64>>,
) -> Result<Duration, ApiError> {
    let most = call.permit().rules().and_then(|rules| limit(&rules.limits)).map(|limit| limit.value);
    let Some(asked) = asked else {
        return Ok(Duration::from_secs(most.map_or(default, |most| most.min(default))));
    };
    let time = Duration::try_from_secs_f64(asked).ok().filter(|time| !time.is_zero());
    let Some(time) = time else {
        return Err(ApiError::invalid(name, format!("{name} must be a positive number")));
    };
    match most {
        Some(most) if time > Duration::from_secs(most) => {
            Err(ApiError::invalid(name, format!("{name} must be at most {most} seconds")).with("limit", most))
        }
        _ => Ok(time),
    }
}

/// A limit of the endpoint, or what holds without one.
pub(super) fn limit(call: &Call, limit: impl Fn(&Limits) -> Option<Ruled<u64>>, default: u64) -> u64 {
    call.permit().rules().and_then(|rules| limit(&rules.limits)).map_or(default, |limit| limit.value)
}

/// The answer to a process that did not start.
pub(super) fn refused(error: &SpawnError) -> ApiError {
    let text: Cow<'static, str> = error.to_string().into();
    match error {
        SpawnError::TooLong => ApiError::new(ErrorCode::RequestTooLarge, text).with("parameter", "command"),
        SpawnError::Nul => ApiError::invalid("command", text),
        SpawnError::NotExecutable(_) => {
            ApiError::new(ErrorCode::CommandNotFound, text).with("parameter", "command")
        }
        SpawnError::TooMany { limit } => {
            ApiError::new(ErrorCode::TooManyProcesses, text).with("limit", *limit).retry_after(1)
        }
        SpawnError::TooManyTerminals { limit } => {
            ApiError::new(ErrorCode::TooManySessions, text).with("limit", *limit).retry_after(1)
        }
        SpawnError::Stopping => ApiError::new(ErrorCode::Draining, text),
        SpawnError::System(_) => ApiError::new(ErrorCode::SpawnFailed, text),
    }
}

/// The answer to a command that ran out of time: 500 on `/shell`, as the source document has it, 408 elsewhere.
pub(super) fn timed_out(status: StatusCode, time: Duration) -> ApiError {
    ApiError::new(ErrorCode::Timeout, format!("Command timed out after {} seconds", time.as_secs_f64()))
        .status(status)
}
