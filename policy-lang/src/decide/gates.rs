//! The gates in the order of the pipeline, one file each. A gate is a function from policy and query to an outcome.

mod bytes;
mod command;
mod concurrency;
mod enabled;
mod extension;
mod language;
mod path;
mod port;
mod rate;
mod request_bytes;
mod scopes;
mod shell;
mod signal;
mod url;
mod variable;

use super::{Denial, Query};
use crate::policy::{CompiledPolicy, ElementRef, RuleIx};

/// A gate. The order of the variants is the order of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Gate {
    /// The endpoint answers at all.
    Enabled,
    /// The caller holds the scopes.
    Scopes,
    /// Calls per minute; counted by the server, never refused here.
    Rate,
    /// Calls at the same time; counted by the server, never refused here.
    Concurrency,
    /// Size of the request body.
    RequestBytes,
    /// Paths.
    Path,
    /// Extension of a written name.
    Extension,
    /// Program.
    Command,
    /// Shell.
    Shell,
    /// Language of a snippet.
    Language,
    /// Signal.
    Signal,
    /// URL.
    Url,
    /// Loopback port.
    Port,
    /// Environment variables.
    Variable,
    /// Size of the file, answer or transfer.
    Bytes,
}

impl Gate {
    /// All, in pipeline order.
    pub const ALL: [Self; 15] = [
        Self::Enabled,
        Self::Scopes,
        Self::Rate,
        Self::Concurrency,
        Self::RequestBytes,
        Self::Path,
        Self::Extension,
        Self::Command,
        Self::Shell,
        Self::Language,
        Self::Signal,
        Self::Url,
        Self::Port,
        Self::Variable,
        Self::Bytes,
    ];

    /// As reports print it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Scopes => "scopes",
            Self::Rate => "rate",
            Self::Concurrency => "concurrency",
            Self::RequestBytes => "request_bytes",
            Self::Path => "path",
            Self::Extension => "extension",
            Self::Command => "command",
            Self::Shell => "shell",
            Self::Language => "language",
            Self::Signal => "signal",
            Self::Url => "url",
            Self::Port => "port",
            Self::Variable => "variable",
            Self::Bytes => "bytes",
        }
    }

    /// What this gate says of a call. An endpoint that the policy does not know is closed.
    #[must_use]
    pub fn judge<'a>(self, policy: &'a CompiledPolicy, query: &Query<'a>) -> GateOutcome<'a> {
        let Some(endpoint) = policy.endpoint(query.endpoint) else { return enabled::unknown(self) };
        let judge = match self {
            Self::Enabled => enabled::judge,
            Self::Scopes => scopes::judge,
            Self::Rate => rate::judge,
            Self::Concurrency => concurrency::judge,
            Self::RequestBytes => request_bytes::judge,
            Self::Path => path::judge,
            Self::Extension => extension::judge,
            Self::Command => command::judge,
            Self::Shell => shell::judge,
            Self::Language => language::judge,
            Self::Signal => signal::judge,
            Self::Url => url::judge,
            Self::Port => port::judge,
            Self::Variable => variable::judge,
            Self::Bytes => bytes::judge,
        };
        judge(endpoint, query)
    }
}

/// What one gate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateOutcome<'a> {
    /// It was asked and lets the call through; the rule that it went by, where one rule says it.
    Pass(Option<RuleIx>),
    /// It refuses.
    Fail(Denial<'a>),
    /// The query says nothing that this gate judges, or nothing limits it here.
    NotAsked,
    /// Only a running server can tell; the rule of the limit and the limit.
    AtCallTime(RuleIx, u64),
}

/// A gate and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateReport<'a> {
    /// The gate.
    pub gate: Gate,
    /// What it says.
    pub outcome: GateOutcome<'a>,
}

/// A refusal with nothing but its code and what decided.
fn denial<'a>(gate: Gate, status: u16, code: &'static str, element: ElementRef) -> Denial<'a> {
    Denial { gate, status, code, element, parameter: None, scope: None, limit: None }
}

/// The outcome of a gate that either finds a refusing element or passes.
fn outcome<'a>(gate: Gate, code: &'static str, refusing: Option<ElementRef>) -> GateOutcome<'a> {
    refusing.map_or(GateOutcome::Pass(None), |element| GateOutcome::Fail(denial(gate, 403, code, element)))
}
