//! Stored and inline servers as a session hands them to its agent.

use std::collections::BTreeMap;
use std::os::fd::AsFd as _;
use std::sync::Arc;

use policy_lang::decide::{CommandQuery, Query};
use serde_json::{Value, json};

use super::definition::{Definition, Remote, Way, is_name};
use super::rows;
use crate::agents::process::Judge;
use crate::app::App;
use crate::egress;
use crate::error::{ApiError, ErrorCode};

/// Whom entries are for.
#[derive(Debug, Clone, Copy)]
pub struct For<'a> {
    /// The agent.
    pub agent_id: &'a str,
    /// The directory of the session.
    pub cwd: &'a str,
    /// Names, or definitions with a `name`; the defaults where nothing is asked.
    pub asked: Option<&'a [Value]>,
}

/// The entries of `mcpServers`, as the protocol has them. `takes` says whether the agent takes a transport, as every agent
/// takes `stdio`; defaults over others are left out. Every server is judged anew by the rules of `judge`.
///
/// # Errors
/// 404 `server_not_found`, 400 `invalid_server`, 409 `capability_missing`, and what the rules refuse.
pub async fn entries(
    app: &Arc<App>,
    judge: &Judge,
    whom: For<'_>,
    takes: impl Fn(&str) -> bool,
) -> Result<Vec<Value>, ApiError> {
    let stored = app.agents.store().await?.read(rows::list).await?;
    let mut chosen: Vec<(String, Definition)> = Vec::new();
    match whom.asked {
        None => {
            let defaults =
                stored.into_iter().filter(|one| one.definition.is_default_for(whom.agent_id, whom.cwd));
            chosen.extend(defaults.map(|one| (one.name, one.definition)));
        }
        Some(asked) => {
            for one in asked {
                let server = match one {
                    Value::String(name) => {
                        let found = stored.iter().find(|stored| stored.name == *name);
                        let found = found.ok_or_else(|| {
                            ApiError::new(
                                ErrorCode::ServerNotFound,
                                format!("There is no MCP server `{name}`"),
                            )
                        })?;
                        (found.name.clone(), found.definition.clone())
                    }
                    inline => read_inline(inline)?,
                };
                chosen.push(server);
            }
        }
    }
    let mut entries = Vec::with_capacity(chosen.len());
    for (name, definition) in chosen {
        let transport = definition.transport();
        if transport == "stdio" || takes(transport) {
            admit(app, judge, &definition).await?;
            entries.push(entry(app, judge, &name, &definition.way)?);
        } else if whom.asked.is_some() {
            let message = format!("The agent takes no MCP server over {transport}");
            return Err(ApiError::new(ErrorCode::CapabilityMissing, message).with("capability", transport));
        }
    }
    Ok(entries)
}

fn read_inline(inline: &Value) -> Result<(String, Definition), ApiError> {
    let wrong = |why: String| ApiError::new(ErrorCode::InvalidServer, why).with("parameter", "mcp");
    let mut members =
        inline.as_object().cloned().ok_or_else(|| wrong("mcp must hold names and servers".to_owned()))?;
    let name = members.remove("name").and_then(|name| name.as_str().map(str::to_owned));
    let name =
        name.filter(|name| is_name(name)).ok_or_else(|| wrong("a server of mcp has no name".to_owned()))?;
    Ok((name, Definition::read(&mut members).map_err(wrong)?))
}

fn entry(app: &App, judge: &Judge, name: &str, way: &Way) -> Result<Value, ApiError> {
    let values = values(app, judge, way)?;
    let pairs: Vec<Value> =
        values.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    Ok(match way {
        Way::Stdio { command, args, .. } => {
            json!({"name": name, "command": command, "args": args, "env": pairs})
        }
        Way::Http(Remote { url, .. }) => json!({"type": "http", "name": name, "url": url, "headers": pairs}),
        Way::Sse(Remote { url, .. }) => json!({"type": "sse", "name": name, "url": url, "headers": pairs}),
    })
}

/// The variables or headers of a server, those from credentials among them.
///
/// # Errors
/// 400 `invalid_server` for a credential that is not there.
pub fn values(app: &App, judge: &Judge, way: &Way) -> Result<BTreeMap<String, String>, ApiError> {
    let (own, from) = match way {
        Way::Stdio { env, env_from, .. } => (env, env_from),
        Way::Http(remote) | Way::Sse(remote) => (&remote.headers, &remote.headers_from),
    };
    let mut values = own.clone();
    for (name, credential) in from {
        let secret = app.agents.credentials.value(credential, judge).map_err(|_| {
            ApiError::new(ErrorCode::InvalidServer, format!("The credential `{credential}` has no value"))
                .with("credential", credential.as_str())
        })?;
        values.insert(name.clone(), secret);
    }
    Ok(values)
}

/// Asks the rules about a server: its program and variables, or its URL with every address behind it.
///
/// # Errors
/// What they refuse; 400 for a URL that is none.
pub async fn admit(app: &Arc<App>, judge: &Judge, definition: &Definition) -> Result<(), ApiError> {
    match &definition.way {
        Way::Stdio { command, env, env_from, .. } => {
            judge.variables(env.keys().chain(env_from.keys()).map(String::as_str))?;
            admit_program(app, judge, command)
        }
        Way::Http(remote) | Way::Sse(remote) => {
            let judge = egress::Judge::under(&judge.state, judge.endpoint);
            match judge.place(&remote.url).await.map_err(|error| ApiError::url(&judge, "url", error)) {
                // A name that has no address now may have one when the agent asks.
                Ok(_) | Err(Err(_)) => Ok(()),
                Err(Ok(refused)) => Err(refused),
            }
        }
    }
}

fn admit_program(app: &App, judge: &Judge, command: &str) -> Result<(), ApiError> {
    let base = rustix::fs::open(
        judge.state.guard.base_dir(),
        rustix::fs::OFlags::PATH | rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    );
    let base = base.map_err(|_| ApiError::internal("The base directory cannot be opened"))?;
    let found = app.processes.programs.find(command, base.as_fd()).ok();
    let at = found.as_ref().map(|program| program.found().to_string_lossy());
    let target = found.as_ref().map(|program| program.path().to_string_lossy());
    let mut query = Query::of(judge.endpoint);
    query.command = Some(CommandQuery { argv0: command, found: at.as_deref(), target: target.as_deref() });
    judge.ask(&query)
}
