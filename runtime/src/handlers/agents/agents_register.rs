//! Add or replace a custom agent that speaks ACP on stdio.
//!
//! # Request
//! `id` and `command` (required; a bare name or an absolute path), `args`, `name`, `env`, `credentials` (names without
//! which it cannot work), `cwd_default`, `client_fs` (false), `client_terminal` (false), `share_process` (false), `install`
//! (one of `{"npm": package}`, `{"pypi": package}`, `{"archive": {url, sha256, cmd}}`), `allow_rpc` (extension methods
//! that may be called).
//!
//! # Response
//! The agent, as `GET /agents/catalog/{agent_id}` shows it.
//!
//! # Limits
//! `limits.max_request_bytes` (1 MB).
//!
//! # Errors
//! 400 `invalid_agent` (with `parameter`; a variable whose name speaks of a secret belongs to the credentials); 403
//! `command_not_allowed`, `variable_not_allowed`, `path_not_allowed`, `url_not_allowed`; 409 `builtin_agent`.
//!
//! # Policy
//! `params.allow_commands`, `params.deny_commands`, `params.allow_vars`, `params.deny_vars`, `params.env_deny`, `paths`
//! (of `cwd_default`), `params.url_allow`, `params.url_deny` (of an archive).
//!
//! ```sh
//! curl -X POST http://localhost:9000/agents/catalog -H 'Content-Type: application/json' \
//!   --json '{"id": "mine", "command": "/opt/mine/agent", "args": ["--acp"]}'
//! ```

use super::super::launch;
use super::{blocking, refused_url};
use crate::agents::catalogue::{self, Builtin, Definition, InstallSource, Origin};
use crate::agents::process::{Judge, place_refused};
use crate::egress;
use crate::endpoint::{Answer, Call, JsonBody, Reply};
use crate::error::{ApiError, ErrorCode};
use std::os::fd::AsFd as _;
use std::sync::Arc;

pub(crate) async fn call(mut call: Call) -> Answer {
    let definition = read(call.json())?;
    if Builtin::find(&definition.id).is_some() {
        let message = format!("`{}` is a known agent; register yours under another id", definition.id);
        return Err(ApiError::new(ErrorCode::BuiltinAgent, message).with("agent_id", definition.id));
    }
    judge(&call, &definition)?;
    let agents = Arc::clone(&call.app().agents);
    let (id, by) = (definition.id.clone(), call.principal().id.to_string());
    catalogue::register(agents.store().await?, definition, by).await?;
    let entry = agents.known(&id).await?;
    let shown = blocking(move || entry.shown_whole(&agents.engine.programs, &agents.credentials)).await?;
    Ok(Reply::ok(&shown))
}

fn read(mut body: JsonBody) -> Result<Definition, ApiError> {
    let id = body.required_text("id")?;
    let definition = Definition {
        name: body.text("name")?.unwrap_or_else(|| id.clone()),
        id,
        kind: Origin::Custom,
        command: body.required_text("command")?,
        args: body.texts("args")?.unwrap_or_default(),
        env: body.text_map("env")?.unwrap_or_default(),
        credentials: body.texts("credentials")?.unwrap_or_default(),
        cwd_default: body.text("cwd_default")?,
        client_fs: body.flag("client_fs", false)?,
        client_terminal: body.flag("client_terminal", false)?,
        share_process: body.flag("share_process", false)?,
        install: body.typed::<InstallSource>("install", "an object with one of npm, pypi and archive")?,
        allow_rpc: body.texts("allow_rpc")?.unwrap_or_default(),
        node_min: None,
    };
    definition.check().map_err(|error| {
        ApiError::new(ErrorCode::InvalidAgent, error.to_string()).with("parameter", error.parameter)
    })?;
    Ok(definition)
}

/// Asks the policy about all that the agent will use; it is asked again at every start.
fn judge(call: &Call, definition: &Definition) -> Result<(), ApiError> {
    let judge = Judge::of(call.permit());
    let engine = &call.app().processes;
    let root = rustix::fs::CWD;
    // Whether it is here yet does not matter.
    drop(judge.find(engine, &definition.command, root.as_fd())?);
    for (name, value) in &definition.env {
        engine.environment.check(name, value).map_err(|error| launch::variable(call, "env", &error))?;
    }
    judge.variables(definition.env.keys().map(String::as_str))?;
    if let Some(cwd) = &definition.cwd_default {
        judge.place(Some(cwd)).map_err(|error| place_refused("cwd_default", &error))?;
    }
    if let Some(archive) = definition.install.as_ref().and_then(|install| install.archive.as_ref()) {
        egress::Judge::of(call.permit())
            .url(&archive.url)
            .map_err(|error| refused_url(call, "install.archive.url", &error))?;
    }
    Ok(())
}
