//! The command of a request of the data plane: an argument list, or a string for a shell, with its surroundings.

use std::collections::BTreeMap;
use std::sync::Arc;

use policy_lang::decide::Query;
use policy_lang::endpoint::EndpointId;
use serde_json::Value;

use super::super::launch::{self, Directory, Judged, Manner};
use super::ledger::Started;
use crate::app::index;
use crate::endpoint::{Call, JsonBody};
use crate::error::{ApiError, ErrorCode};
use crate::process::{Job, Program, Screen, masking};

/// The shell of a string where the request names none, and what stands in where a machine has no such file.
const SHELL: (&str, &str) = ("/bin/bash", "/bin/sh");

/// The terminal of a command, until its client says another size.
pub(super) const TERMINAL: Screen = Screen::Terminal { columns: 80, rows: 24 };

/// Starts the command of the body. `id`: by which its caller comes back to it.
///
/// # Errors
/// What is wrong with the request, or which rule refuses. Nothing runs then.
pub(super) fn start(
    call: &Call,
    body: &mut JsonBody,
    manner: Manner,
    id: Option<&str>,
) -> Result<Arc<Job>, ApiError> {
    let Surroundings { user, directory, mut variables } = Surroundings::read(body)?;
    if let Some(user) = user.filter(|user| !call.app().processes.runs_as(user)) {
        return Err(ApiError::new(ErrorCode::UserNotAllowed, format!("Commands do not run as `{user}`"))
            .with("endpoint", call.declared().name)
            .with("parameter", "run_config")
            .rule("default:base"));
    }
    let (place, path) = directory;
    let directory = launch::directory(call, place, path.as_deref())?;
    let command = body.take("command").ok_or_else(|| ApiError::missing("command"))?;
    let shell = body.text("shell")?;
    if manner.screen == TERMINAL {
        judge_terminal(call, command.is_string().then_some(shell.as_deref().unwrap_or(SHELL.0)))?;
        variables.entry("TERM".to_owned()).or_insert_with(|| "xterm-256color".to_owned());
    }
    let (arguments, program) = program(call, command, shell, &directory)?;
    let environment = launch::environment(call, Some(variables), &directory)?;
    let started = Started::of(&program, &directory.path, id);
    let title = masking::display(&arguments);
    let job = Judged { program, arguments, environment, directory, title }.start(call, manner)?;
    started.watch(call, &job);
    Ok(job)
}

/// Where and as whom a command runs, and with which variables.
#[derive(Debug)]
struct Surroundings {
    user: Option<String>,
    /// The parameter that names it, and what it names.
    directory: (&'static str, Option<String>),
    variables: BTreeMap<String, String>,
}

impl Surroundings {
    /// From `run_config`, or from `cwd` and `env`.
    fn read(body: &mut JsonBody) -> Result<Self, ApiError> {
        let (cwd, env) = (body.text("cwd")?, body.text_map("env")?);
        let Some(config) = body.take("run_config") else {
            return Ok(Self { user: None, directory: ("cwd", cwd), variables: env.unwrap_or_default() });
        };
        if cwd.is_some() || env.is_some() {
            let message = "run_config and cwd or env say the same thing twice; send one of them";
            return Err(ApiError::invalid("run_config", message));
        }
        let Value::Object(members) = config else {
            return Err(ApiError::invalid("run_config", "run_config must be an object"));
        };
        let mut config = JsonBody::new(members);
        Ok(Self {
            user: config.text("user")?.filter(|user| !user.is_empty()),
            directory: ("work_dir", config.text("work_dir")?.filter(|path| !path.is_empty())),
            variables: config.text_map("env_vars")?.unwrap_or_default(),
        })
    }
}

/// The arguments and the judged program.
fn program(
    call: &Call,
    command: Value,
    shell: Option<String>,
    directory: &Directory,
) -> Result<(Vec<String>, Program), ApiError> {
    let wrong = || ApiError::invalid("command", "command must be a non-empty string or a list of strings");
    let text = match command {
        Value::String(text) => text,
        list => {
            let words: Vec<String> = serde_json::from_value(list).map_err(|_| wrong())?;
            let first = words.first().filter(|word| !word.is_empty()).ok_or_else(wrong)?;
            let program = launch::program(call, first, directory)?;
            return Ok((words, program));
        }
    };
    if text.trim().is_empty() {
        return Err(wrong());
    }
    let asked = shell.unwrap_or_else(|| SHELL.0.to_owned());
    let (shell, program) = match launch::shell(call, &asked, directory) {
        Err(error) if error.code() == ErrorCode::CommandNotFound && asked == SHELL.0 => {
            (SHELL.1.to_owned(), launch::shell(call, SHELL.1, directory)?)
        }
        found => (asked, found?),
    };
    Ok((vec![shell, "-c".to_owned(), text], program))
}

/// A command on a terminal is a terminal session too: that endpoint must be open to the caller.
fn judge_terminal(call: &Call, shell: Option<&str>) -> Result<(), ApiError> {
    let mut query = Query::of(index(EndpointId::PtyCreate));
    query.scopes = Some(&call.principal().scopes);
    query.shell = shell;
    launch::ask(call, &query)
}
