//! The environment: every variable that the server reads, and the only place that reads them.
//!
//! It is read once, at start, and then scrubbed of secrets, so that neither a child nor `/proc` can find them.
#![expect(clippy::disallowed_methods, reason = "this is the one reader of the environment")]

mod scrub;
pub(crate) mod uploads;
mod withheld;

pub use withheld::Withheld;

use crate::auth::Digest;
use crate::process::environment::inheritable;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, PoisonError};

/// A variable, what holds without it, and what it means.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What holds where it is unset.
    pub default: &'static str,
    /// One line.
    pub meaning: &'static str,
}

/// Every variable, as the help shows them.
pub const VARIABLES: &[Variable] = &[
    Variable {
        name: TOKEN,
        default: "unset: no token is asked",
        meaning: "token of the caller `legacy`, who holds every scope",
    },
    Variable {
        name: BASE_DIR,
        default: "/home/user",
        meaning: "base directory where neither --base-dir nor the policy names one",
    },
    Variable {
        name: ENABLED_GROUPS,
        default: "none",
        meaning: "groups to open, separated by commas: agents,dev_tools",
    },
    Variable {
        name: PTY_PORT,
        default: "9001",
        meaning: "port of the terminal WebSocket where --pty-port names none",
    },
    Variable {
        name: MAX_UPLOAD_SIZE,
        default: "unset: 16MB as JSON, 100MB as a stream",
        meaning: "largest upload where the policy says none",
    },
    Variable { name: POLICY, default: "unset", meaning: "the policy itself, as JSON" },
    Variable { name: POLICY_FILE, default: "unset", meaning: "file that holds the policy" },
    Variable { name: AUDIT_FILE, default: "stderr", meaning: "file that the audit log is appended to" },
    Variable {
        name: STATE_DIR,
        default: "/var/lib/agent-sandbox-server, for others than root /var/tmp/agent-sandbox-server-UID",
        meaning: "folder that the server keeps its own state in where --state-dir names none",
    },
    Variable { name: BROWSER, default: "the first Chromium found", meaning: "browser executable" },
];

const TOKEN: &str = "ABX_SERVER_TOKEN";
const BASE_DIR: &str = "ABX_SERVER_BASE_DIR";
const ENABLED_GROUPS: &str = "ABX_SERVER_ENABLED_GROUPS";
const PTY_PORT: &str = "ABX_PTY_PORT";
const MAX_UPLOAD_SIZE: &str = "ABX_MAX_UPLOAD_SIZE";
/// The policy itself.
pub const POLICY: &str = "ABX_SERVER_POLICY";
/// The policy's file.
pub const POLICY_FILE: &str = "ABX_SERVER_POLICY_FILE";
const AUDIT_FILE: &str = "ABX_AUDIT_FILE";
const STATE_DIR: &str = "ABX_STATE_DIR";
const BROWSER: &str = "ABX_BROWSER";

/// What the environment said at start. An empty variable is an unset one.
#[derive(Debug, Default)]
pub struct Env {
    /// `ABX_SERVER_BASE_DIR`
    pub base_dir: Option<String>,
    /// `ABX_SERVER_ENABLED_GROUPS`
    pub enabled_groups: Option<String>,
    /// `ABX_PTY_PORT`
    pub pty_port: Option<String>,
    /// `ABX_MAX_UPLOAD_SIZE`
    pub max_upload_size: Option<String>,
    /// `ABX_SERVER_POLICY`
    pub policy: Option<String>,
    /// `ABX_SERVER_POLICY_FILE`
    pub policy_file: Option<String>,
    /// `ABX_AUDIT_FILE`
    pub audit_file: Option<String>,
    /// `ABX_STATE_DIR`
    pub state_dir: Option<String>,
    /// `ABX_BROWSER`
    pub browser: Option<String>,
    /// What children may inherit: everything but the server's own variables.
    pub inherited: Vec<(OsString, OsString)>,
    /// What no child gets by itself, but a caller may bind to an agent by name: everything but the server's own variables
    /// and its tokens.
    pub withheld: Arc<Withheld>,
    /// Whether requests may ask for faults.
    #[cfg(debug_assertions)]
    pub(crate) test_faults: bool,
    /// A file that holds up the preparation of the policy for as long as it is there.
    #[cfg(debug_assertions)]
    pub(crate) test_hold: Option<String>,
    secrets: Secrets,
}

/// Secrets by variable, as digests: all that is kept of them.
#[derive(Debug, Default)]
struct Secrets(Mutex<BTreeMap<String, Option<Digest>>>);

impl Env {
    /// Reads the environment.
    #[must_use]
    pub fn read() -> Self {
        let own = |name: &OsString| name.to_str().is_some_and(|name| name.starts_with("ABX_"));
        Self {
            base_dir: variable(BASE_DIR),
            enabled_groups: variable(ENABLED_GROUPS),
            pty_port: variable(PTY_PORT),
            max_upload_size: variable(MAX_UPLOAD_SIZE),
            policy: variable(POLICY),
            policy_file: variable(POLICY_FILE),
            audit_file: variable(AUDIT_FILE),
            state_dir: variable(STATE_DIR),
            browser: variable(BROWSER),
            inherited: std::env::vars_os().filter(|(name, _)| !own(name)).collect(),
            withheld: Arc::default(),
            #[cfg(debug_assertions)]
            test_faults: variable("ABX_TEST_FAULTS").is_some(),
            #[cfg(debug_assertions)]
            test_hold: variable("ABX_TEST_HOLD"),
            secrets: Secrets::default(),
        }
    }

    /// What children may inherit, as far as it is text.
    pub fn texts(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let text = |text: &OsString| text.to_str().map(str::to_owned);
        self.inherited.iter().filter_map(move |(name, value)| Some((text(name)?, text(value)?)))
    }

    /// The server's own `PATH`.
    #[must_use]
    pub fn path(&self) -> &OsStr {
        self.inherited.iter().find(|(name, _)| name == "PATH").map_or(OsStr::new(""), |(_, value)| value)
    }

    /// The digest of `ABX_SERVER_TOKEN`.
    #[must_use]
    pub fn server_token(&self) -> Option<Digest> {
        self.secret(TOKEN)
    }

    /// The digest of the secret in a variable; `None` where it is unset or empty. A name that was asked for before the
    /// environment was scrubbed stays known.
    #[must_use]
    pub fn secret(&self, name: &str) -> Option<Digest> {
        let mut known = self.secrets.0.lock().unwrap_or_else(PoisonError::into_inner);
        *known
            .entry(name.to_owned())
            .or_insert_with(|| variable(name).map(|value| Digest::of(value.as_bytes())))
    }

    /// Keeps what children may inherit, less every variable that holds a secret asked for so far, under whatever name.
    /// All others are overwritten in the environment block that `/proc` shows, and known by their digests from then on,
    /// because a later policy may name any of them. To be called before a second thread exists.
    pub fn scrub(&mut self) {
        let known = self.secrets.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        let secrets: Vec<String> =
            known.keys().filter_map(|name| variable(name)).filter(|value| value.len() >= SECRET).collect();
        self.inherited.retain(|(name, value)| {
            let value = value.to_string_lossy();
            let passes = |name: &str| inheritable(name) && !known.contains_key(name);
            name.to_str().is_some_and(passes) && !secrets.iter().any(|secret| value.contains(secret.as_str()))
        });
        let own = |name: &str| name.starts_with("ABX_") || known.contains_key(name);
        let secret = |value: &str| secrets.iter().any(|secret| value.contains(secret.as_str()));
        let others =
            std::env::vars_os().filter_map(|(n, v)| Some((n.into_string().ok()?, v.into_string().ok()?)));
        let others = others.filter(|(name, value)| !own(name) && !secret(value));
        self.withheld = Arc::new(Withheld::new(others));
        let kept: BTreeSet<&[u8]> = self.inherited.iter().map(|(name, _)| name.as_bytes()).collect();
        for name in std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()) {
            if !kept.contains(name.as_bytes()) {
                let digest = variable(&name).map(|value| Digest::of(value.as_bytes()));
                known.entry(name).or_insert(digest);
            }
        }
        scrub::blank(|name| !kept.contains(name));
    }
}

/// Shortest value that is looked for inside others: anything shorter would be found by chance.
const SECRET: usize = 4;

/// Whether `NO_COLOR` asks for plain text.
#[must_use]
pub fn no_colour() -> bool {
    variable("NO_COLOR").is_some()
}

fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?;
    // What is no text cannot be a name, a number or a document; as a secret it can be presented by nobody.
    Some(value.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
}
