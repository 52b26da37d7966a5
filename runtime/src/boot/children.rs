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

/// The engine of all children. The server waits for whatever they leave behind.
pub(super) fn engine(
    options: &Options,
    env: &Env,
    state: &PolicyState,
    user: Option<&User>,
) -> Result<Arc<process::Engine>, Fault> {
    let own = env.inherited.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    let mut own: Vec<(String, String)> =
        own.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let path = own.iter().find(|(name, _)| name == "PATH").map_or(PATH, |(_, path)| path.as_str());
    let programs = process::Programs::from_path(path.as_ref());
    // Later ones win: a child of another user is at home where that user is.
    own.extend(user.into_iter().flat_map(User::variables));
    let hidden = state.secret_variables().map(str::to_owned).collect();
    let environment = process::Environment::new(own, hidden);
    // Only root has to become somebody, and only root may.
    let identity = user.filter(|_| rustix::process::geteuid().is_root()).map(|user| user.identity);
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
