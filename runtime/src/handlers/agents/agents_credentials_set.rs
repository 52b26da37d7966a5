//! Store or point to a secret and bind it to agents.
//!
//! # Request
//! `name` (required), exactly one of `value`, `from_env` (a variable that the server was started with), `from_file` (a path
//! that is read at each start of an agent), `agents` (ids; all, where absent), `expose_as` (the variable that agents see
//! it in; else `name`, where that can be a variable).
//!
//! # Response
//! `{"name", "source", "present", "applies": "next_start"}`. The value is never answered.
//!
//! # Limits
//! 64 KB of a value; 256 credentials; `limits.max_request_bytes` (1 MB).
//!
//! # Errors
//! 400 `invalid_name`, `invalid_parameter`, `missing_parameter`; 403 `variable_not_allowed` (names of the server and of
//! its tokens, loader variables, and what the policy refuses), `path_not_allowed`.
//!
//! # Policy
//! `params.allow_vars`, `params.deny_vars` (of the variable that agents see and of `from_env`), `paths` (of `from_file`).
//!
//! ```sh
//! curl -X POST http://localhost:9000/agents/credentials -H 'Content-Type: application/json' \
//!   --json '{"name": "ANTHROPIC_API_KEY", "value": "…", "agents": ["claude"]}'
//! ```

use super::super::launch;
use super::{blocking, unreadable};
use crate::agents::catalogue::is_agent_id;
use crate::agents::credentials::{Source, Stored, is_variable};
use crate::agents::process::{Judge, place_refused};
use crate::agents::store::now;
use crate::endpoint::{Answer, Call, JsonBody, Reply};
use crate::error::{ApiError, ErrorCode};
use crate::guard::{EndpointRules, NormalPath, Op};
use policy_lang::decide::{VariableQuery, VariableUse};
use serde_json::json;
use std::sync::Arc;

/// Longest value, in bytes: the kernel passes no longer one on.
const LONGEST: usize = 64 * 1024;

/// Most credentials: all of them are written at each change.
const MOST: usize = 256;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let name = body.required_text("name")?;
    if !is_name(&name) {
        let message = "name must be 1 to 128 of letters, digits, `_`, `-` and `.`, a letter or `_` first";
        return Err(ApiError::new(ErrorCode::InvalidName, message).with("parameter", "name"));
    }
    let source = source(&call, &mut body)?;
    let agents = body.texts("agents")?.unwrap_or_default();
    if !agents.iter().all(|agent| is_agent_id(agent)) {
        return Err(ApiError::invalid("agents", "agents must be a list of agent ids"));
    }
    let expose_as = body.text("expose_as")?;
    if expose_as.as_ref().is_some_and(|variable| !is_variable(variable)) {
        return Err(ApiError::invalid("expose_as", "expose_as must be the name of a variable"));
    }
    let stored = Stored { source, agents, expose_as, updated_at: now(), last_used_at: None };
    judge(&call, stored.variable(&name), &stored.source)?;
    let service = Arc::clone(&call.app().agents);
    // The folder of the file is made, and closed to others, with the store.
    service.store().await?;
    let kept = blocking(move || {
        let full = service.credentials.list()?.len() >= MOST && !service.credentials.has(&name)?;
        if full { Ok(None) } else { service.credentials.set(&name, stored).map(Some) }
    });
    let shown = kept.await?.map_err(|_: std::io::Error| unreadable())?;
    let Some(shown) = shown else {
        return Err(ApiError::invalid("name", "as many credentials are stored as may be").with("limit", MOST));
    };
    Ok(Reply::ok(&json!({
        "name": shown.name,
        "source": shown.source,
        "present": shown.present,
        "applies": "next_start",
    })))
}

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.len() <= 128
        && bytes.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte))
}

fn source(call: &Call, body: &mut JsonBody) -> Result<Source, ApiError> {
    match (body.text("value")?, body.text("from_env")?, body.text("from_file")?) {
        (Some(value), None, None) if value.is_empty() || value.len() > LONGEST || value.contains('\0') => {
            Err(ApiError::invalid("value", "value must be 1 to 65536 bytes without a NUL"))
        }
        (Some(value), None, None) => Ok(Source::Value(value)),
        (None, Some(variable), None) if !is_variable(&variable) => {
            Err(ApiError::invalid("from_env", "from_env must be the name of a variable"))
        }
        (None, Some(variable), None) => Ok(Source::Env(variable)),
        (None, None, Some(path)) => file(call, &path).map(Source::File),
        (None, None, None) => Err(ApiError::missing("value")),
        _ => Err(ApiError::invalid("value", "exactly one of value, from_env and from_file must be given")),
    }
}

/// The file's path, links resolved, where the rules let it be read. It need not be there yet.
fn file(call: &Call, path: &str) -> Result<String, ApiError> {
    let permit = call.permit();
    let guard = &permit.state().guard;
    let rules = permit.rules().and_then(EndpointRules::of);
    let rules = rules.ok_or_else(|| ApiError::internal("The endpoint takes no paths"))?;
    let normal = NormalPath::new(guard.base_dir(), path.as_bytes())
        .map_err(|error| place_refused("from_file", &error))?;
    match guard.file(&rules, &normal, Op::Read) {
        Ok(_) | Err(crate::guard::GuardError::NotFound) => {
            Ok(String::from_utf8_lossy(normal.as_bytes()).into_owned())
        }
        Err(error) => Err(place_refused("from_file", &error)),
    }
}

/// Asks about the variable that agents will see, and about the one that is read.
fn judge(call: &Call, variable: Option<&str>, source: &Source) -> Result<(), ApiError> {
    let environment = &call.app().processes.environment;
    let read = match source {
        Source::Env(name) => Some(name.as_str()),
        _ => None,
    };
    for name in variable.into_iter().chain(read) {
        let parameter = if Some(name) == read { "from_env" } else { "name" };
        environment.check(name, "").map_err(|error| launch::variable(call, parameter, &error))?;
        if call.permit().state().secret_variables().any(|secret| secret == name) {
            let message = format!("the variable `{name}` may not be used: it belongs to the server");
            return Err(ApiError::new(ErrorCode::VariableNotAllowed, message)
                .with("parameter", parameter)
                .rule("default:base"));
        }
    }
    let carried = |name| VariableQuery { name, usage: VariableUse::Set };
    let named: Vec<VariableQuery<'_>> = variable.into_iter().chain(read).map(carried).collect();
    Judge::of(call.permit()).ask_variables(&named)
}
