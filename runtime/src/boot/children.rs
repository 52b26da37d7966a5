//! Whom children run as, what they get to see, and what the log says of both.

use super::{Fault, Options};
use crate::app::PolicyState;
use crate::env::Env;
use crate::log;
use crate::process::{self, Forward, User};
use std::sync::Arc;

/// Where programs are looked for when the server itself has no `PATH`.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The user of `--child-user`, who must be another than the server where the server is root: only root can become another.
pub(super) fn user(options: &Options) -> Result<Option<User>, Fault> {
    let Some(text) = options.child_user.as_deref() else { return Ok(None) };
    let user = User::find(text).map_err(|error| {
        Fault::failed(format!("--child-user: {error}"))
            .help("name a user of /etc/passwd, or write UID or UID:GID")
    })?;
    let own = rustix::process::geteuid();
    if !own.is_root() && own.as_raw() != user.identity.uid {
        return Err(Fault::failed(format!("--child-user `{text}` needs a server that runs as root")).help(
            "start the server as root, or leave the flag out: children then run as the server's own user",
        ));
    }
    Ok(Some(user))
}

/// What is to be said where children can do to the server whatever they like.
pub(super) fn exposure(user: Option<&User>) -> Option<&'static str> {
    let shared = user.is_none_or(|user| user.identity.uid == 0);
    (shared && rustix::process::geteuid().is_root()).then_some(
        "children_share_root: commands run as root, as the server does, and can read its memory and change its files; \
         give them a user of their own with --child-user",
    )
}

/// Where programs are found.
pub(super) fn programs(env: &Env) -> process::Programs {
    let path = env.path();
    process::Programs::from_path(if path.is_empty() { PATH.as_ref() } else { path })
}

/// What children get to see of the environment.
pub(super) fn environment(env: &Env, hidden: Vec<String>, user: Option<&User>) -> process::Environment {
    // Later ones win: a child of another user is at home where that user is.
    let own = env.texts().chain(user.into_iter().flat_map(User::variables));
    process::Environment::new(own, hidden)
}

/// Whom children have to become. Only root has to become somebody, and only root may.
pub(super) fn identity(user: Option<&User>) -> Option<process::Identity> {
    user.filter(|_| rustix::process::geteuid().is_root()).map(|user| user.identity)
}

/// The engine of all children. The server waits for whatever they leave behind.
pub(super) fn engine(
    options: &Options,
    env: &Env,
    state: &PolicyState,
    user: Option<&User>,
) -> Result<Arc<process::Engine>, Fault> {
    let programs = programs(env);
    let hidden = state.secret_variables().map(str::to_owned).collect();
    let (environment, identity) = (environment(env, hidden, user), identity(user));
    let failed = |error| Fault::failed(format!("cannot prepare for child processes: {error}"));
    let forward = match options.forward_output {
        true => Some(Forward::start(log::say_in_turn).map_err(failed)?),
        false => None,
    };
    let setup =
        process::Setup { programs, environment, identity, max_processes: process::MAX_PROCESSES, forward };
    let engine = process::Engine::new(setup).and_then(|engine| engine.adopt_orphans().map(|()| engine));
    engine.map_err(failed)
}
