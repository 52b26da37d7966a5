//! Where the policy comes from. The first source that is named counts, and must load: nothing falls through to the next.

use super::Fault;
use super::read::{self, Policy};
use crate::env::{self, Env};
use policy_lang::parse::Format;
use std::path::{Path, PathBuf};

/// Where a policy is looked for when nothing names one.
const DEFAULT_FILE: &str = "/etc/agent-sandbox/server-policy.json";

/// A policy text and where it was found.
#[derive(Debug)]
pub(crate) struct Source {
    /// How messages call it: a path, or the name of a variable.
    pub(crate) name: String,
    /// What diagnostics print before line and column: the name without directories.
    pub(crate) file: String,
    /// What the text is written in.
    pub(crate) format: Format,
    /// What was read; `None` where nothing names a policy.
    pub(crate) policy: Option<Policy>,
}

impl Source {
    fn new(name: &str, format: Format, policy: Option<Policy>) -> Self {
        let file = name.rsplit('/').next().unwrap_or(name).to_owned();
        Self { name: name.to_owned(), file, format, policy }
    }
}

/// When a policy is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// Before there is a server, or where there is none.
    Start,
    /// While one runs, which must not wait for a pipe that nobody writes to.
    Again,
}

/// Finds the policy: `--policy`, `ABX_SERVER_POLICY`, `ABX_SERVER_POLICY_FILE`, the default file, nothing.
pub(crate) fn find(named: Option<&Path>, env: &Env, when: When) -> Result<Source, Fault> {
    if let Some(path) = named {
        return file(path, "--policy", when);
    }
    if let Some(text) = &env.policy {
        return Ok(Source::new(env::POLICY, Format::Json, Some(Policy::Text(text.clone()))));
    }
    if let Some(path) = &env.policy_file {
        return file(&PathBuf::from(path), env::POLICY_FILE, when);
    }
    let default = Path::new(DEFAULT_FILE);
    // `exists` would take an unreadable directory for an absent file and open everything.
    match default.try_exists() {
        Ok(false) => Ok(Source::new("built-in defaults", Format::Auto, None)),
        Ok(true) => file(default, "default policy file", when),
        Err(error) => Err(Fault::failed(format!("cannot look for `{DEFAULT_FILE}`: {error}"))),
    }
}

fn file(path: &Path, named_by: &str, when: When) -> Result<Source, Fault> {
    let shown = path.display();
    let found = (when == When::Again).then(|| std::fs::metadata(path)).and_then(Result::ok);
    if found.is_some_and(|found| !found.is_file()) {
        return Err(Fault::failed(format!("cannot read the policy `{shown}` again: it is no regular file"))
            .help("start the server anew, or keep the policy in a file"));
    }
    let policy = read::policy(path).map_err(|error| {
        Fault::failed(format!("cannot read the policy `{shown}`: {error}"))
            .help(format!("{named_by} names it; a source that is named is never passed over"))
    })?;
    Ok(Source::new(&shown.to_string(), Format::Auto, Some(policy)))
}
