//! Ways of signing an agent in: which one is meant, what it needs, and the one that needs a terminal.

use super::catalogued::Starting;
use crate::agents::acp::Wait;
use crate::agents::catalogue;
use crate::agents::process::{Recipe, StartFor};
use crate::app::App;
use crate::endpoint::{Answer, Reply};
use crate::error::{ApiError, ErrorCode};
use crate::process::{Exit, Full, Kind, Launch, Owner, Screen, Stdin, masking};
use serde_json::{Value, json};
use std::sync::Arc;

/// What a terminal for signing in looks like until somebody attaches.
const SIZE: (u16, u16) = (120, 40);

/// Bytes of scrollback.
const SCROLLBACK: usize = 256 << 10;

/// Where agents said that a method needs a terminal before the protocol had a word for it.
const LEGACY: &str = "/_meta/terminal-auth";

/// The method of this id, or the only one.
///
/// # Errors
/// 400 `unknown_method` with those that there are.
pub(super) fn method(methods: &[Value], id: Option<&str>) -> Result<Value, ApiError> {
    let named = |method: &&Value| method.get("id").and_then(Value::as_str) == id;
    let found = match (id, methods) {
        (Some(_), methods) => methods.iter().find(named),
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    found.cloned().ok_or_else(|| {
        ApiError::new(ErrorCode::UnknownMethod, "method_id must name one of the agent's ways of signing in")
            .with("parameter", "method_id")
            .with("auth_methods", methods.to_vec())
    })
}

/// What kind of method it is: `agent`, `terminal` or `env_var`. Some agents say so under `_meta` alone.
pub(super) fn kind(method: &Value) -> &str {
    let said = method.get("type").or_else(|| method.pointer("/_meta/type")).and_then(Value::as_str);
    said.unwrap_or(if method.pointer(LEGACY).is_some() { "terminal" } else { "agent" })
}

/// Looks whether the agent gets every variable that a method needs.
///
/// # Errors
/// 409 `agent_auth_required` with those that are missing.
pub(super) async fn check_variables(starting: &Starting, method: &Value) -> Result<(), ApiError> {
    let entry = starting.entry().await?;
    let named = method.get("vars").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let needed = named.iter().filter(|var| var.get("optional").and_then(Value::as_bool) != Some(true));
    let needed: Vec<String> =
        needed.filter_map(|var| var.get("name").and_then(Value::as_str).map(str::to_owned)).collect();
    let missing: Vec<String> = starting
        .agents
        .credentials
        .missing(&entry.definition.id, &needed)
        .into_iter()
        .filter(|name| !entry.definition.env.contains_key(name))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message = "The method needs variables that are not among the credentials";
    Err(ApiError::new(ErrorCode::AgentAuthRequired, message).with("missing_credentials", missing))
}

/// Runs the agent's own command in a terminal, with what the method adds.
///
/// # Errors
/// 409 where no terminal can be reached, 429 where there are too many.
pub(super) async fn by_terminal(
    starting: &Starting,
    app: &Arc<App>,
    owner: Owner,
    method: &Value,
    wait: Wait,
) -> Answer {
    if !app.policy().serves_terminals() {
        let message = "Signing in needs a terminal, and `pty_connect` is closed";
        return Err(ApiError::new(ErrorCode::CapabilityMissing, message).with("capability", "pty_connect"));
    }
    let entry = starting.entry().await?;
    let mut recipe = starting.agents.recipe(&entry, &starting.judge)?;
    extend(&mut recipe, method);
    let place =
        starting.judge.place(None).map_err(|error| crate::agents::process::place_refused("cwd", &error))?;
    let program = starting.judge.program(&app.processes, &recipe.command, &place)?;
    let environment = starting.judge.environment(&app.processes, &recipe, &place)?;
    let words = recipe.words();
    let launch = Launch {
        program,
        title: masking::display(&words),
        arguments: words,
        environment,
        directory: place.handle,
        input: Stdin::Open,
        screen: Screen::Terminal { columns: SIZE.0, rows: SIZE.1 },
        keep: SCROLLBACK,
        full: Full::DropOldest,
        lifetime: wait.total,
        kind: Kind::Terminal,
        owner,
    };
    let session = app.terminals.open(&app.processes, launch, SIZE);
    let session = session.map_err(|error| super::super::launch::refused(&error))?;
    let url = super::super::terminal::url(app, &session.id);
    let (agents, judge, job) =
        (Arc::clone(&starting.agents), starting.judge.clone(), Arc::clone(&session.job));
    tokio::spawn(async move {
        if !matches!(job.ended().await, Exit { code: Some(0), .. }) {
            return;
        }
        let id = entry.definition.id;
        if let Ok(store) = agents.store().await {
            let _ = catalogue::signed_in(store, id.clone(), true).await;
        }
        // What it says of itself now that it is signed in.
        if let Ok(place) = judge.place(None) {
            let patience = crate::agents::process::HANDSHAKE_PATIENCE;
            let what = StartFor { judge, place, session_id: None, trace: false, patience };
            if let Ok(process) = agents.start(&id, what).await {
                process.stop(std::time::Duration::from_secs(2), false).await;
            }
        }
    });
    Ok(Reply::ok(&json!({"status": "pending_terminal", "pty_session_id": session.id, "ws_url": url})))
}

/// Adds the method's arguments and variables. An older form names the whole command line; of that only the arguments are
/// taken, in place of the agent's own: the program stays the one that was judged.
fn extend(recipe: &mut Recipe, method: &Value) {
    let legacy = method.pointer(LEGACY);
    if legacy.is_some() {
        recipe.args.clear();
    }
    let place = legacy.unwrap_or(method);
    let args = place.get("args").or_else(|| method.pointer("/_meta/args")).and_then(Value::as_array);
    recipe.args.extend(args.into_iter().flatten().filter_map(|arg| arg.as_str().map(str::to_owned)));
    let env = place.get("env").and_then(Value::as_object);
    let texts = env.into_iter().flatten().filter_map(|(n, v)| Some((n.clone(), v.as_str()?.to_owned())));
    recipe.env.extend(texts);
    recipe.env.entry("TERM".to_owned()).or_insert_with(|| "xterm-256color".to_owned());
}
