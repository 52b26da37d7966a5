//! Named commands: what a template registers for callers to run by name. Knows nothing of HTTP.
//!
//! A command comes from a declarative file ([`document`]) or from a Python template (`worker`), and is frozen in a [`Registry`] when the server starts. A call
//! brings arguments by name, which [`arguments`] checks and converts; then its [`Action`] runs.
//!
//! | module | |
//! |---|---|
//! | `registry` | every command, and which of them a caller may know of |
//! | `arguments` | from what a call brings to what the command takes |
//! | `document` | the declarative file, with places for whatever is wrong in it |
//! | `template` | words with placeholders |
//! | `function` | functions of the program that embeds the server |
//! | `worker` | the process that has imported a template and calls its functions |
//! | `program` | a command that is a program: how it is started and what it yields |

pub mod arguments;
pub mod document;
mod function;
mod program;
mod registry;
mod template;
mod worker;

pub use arguments::{Argument, ArgumentError, ArgumentKind, Arguments};
pub use function::{CommandError, Function, FunctionFuture, RouteFunction};
pub use program::{Output, Program, ProgramError, Run, Script, variable};
pub use registry::{Registry, RegistryError};
pub use template::{Template, TemplateError};
pub use worker::{
    DescribeError, Event, Manifest, ManifestError, Pending, RouteEntry, Switch, Target, TargetError,
    WorkerError, Workers, describe,
};

use crate::custom::CustomRoutes;
use policy_lang::scope::{ScopeNeed, ScopeSet};
use std::sync::Arc;
use std::time::Duration;

/// What fuzzers ask of messages; see [`crate::probe`].
pub(crate) fn worker_messages(pieces: &[&[u8]]) -> (Vec<serde_json::Value>, bool) {
    worker::messages(pieces)
}

pub(crate) fn worker_message(message: &serde_json::Value) -> Option<Vec<u8>> {
    worker::encode(message).ok()
}

/// What a running server has of commands.
#[derive(Debug, Default)]
pub struct Commands {
    /// Every command.
    pub registry: Registry,
    /// The routes of the template.
    pub routes: CustomRoutes,
    /// Their functions, by place, where the program that embeds the server brings them.
    pub functions: Vec<RouteFunction>,
    /// What calls the template's functions; none where there are none.
    pub worker: Option<Arc<Workers>>,
}

/// One command.
#[derive(Debug, Clone)]
pub struct Command {
    /// Its name: letters, digits, `_`, `-` and `.`.
    pub name: String,
    /// What it does, for people; may be empty.
    pub description: String,
    /// What it takes, in the order of its declaration.
    pub arguments: Vec<Argument>,
    /// What a caller needs beside the scope of the command. One who lacks it cannot tell that there is such a command.
    pub scopes: ScopeNeed,
    /// Whether it is left out of the list. It runs all the same.
    pub hidden: bool,
    /// What bounds a run, beside the rules of the endpoint.
    pub limits: Limits,
    /// What it does.
    pub action: Action,
}

/// Bounds of one run; the rules of the endpoint may be tighter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Bytes of its output that are kept.
    pub max_output_bytes: Option<u64>,
}

/// How a command runs.
#[derive(Debug, Clone)]
pub enum Action {
    /// A program is started.
    Program(Program),
    /// A function of the template is called, by the command's name.
    Worker,
    /// A function of the program that embeds the server.
    Function(Function),
}

impl Command {
    /// Whether a caller with these scopes holds the command's own ones.
    #[must_use]
    pub fn is_known_to(&self, holder: &ScopeSet) -> bool {
        self.scopes.missing(holder, None).is_none()
    }
}

/// Whether this may be the name of a command: what a scope and a path can carry.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(plain)
}

/// Longest name of a command, in bytes.
const LONGEST_NAME: usize = 128;
