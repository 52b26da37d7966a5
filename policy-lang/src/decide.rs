//! The one decision: may this call happen, and if not, which rule says so.
//!
//! [`decide`] walks the gates in the order of the pipeline and stops at the first that refuses; [`gates()`] asks every gate,
//! for explain. Both call the same function of each gate. A gate judges only what the [`Query`] asks: a member that is
//! absent is *not asked* and passes, so the pipeline asks in two steps (before the body is read, and once the handler
//! knows its paths, program or URL) and both steps together are what explain asks in one.
//!
//! Nothing is allocated on the way to [`Decision::Allow`] unless a path has characters beyond ASCII or a rule has globs
//! that need an automaton, whose scratch space is made once per thread.

pub mod gates;
mod query;

pub use gates::{Gate, GateOutcome, GateReport};
pub use query::{CommandQuery, PathQuery, Query, VariableQuery, VariableUse};

use crate::endpoint::EndpointDecl;
use crate::policy::{CompiledPolicy, ElementRef, RuleIx};
use std::borrow::Cow;

/// What is done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// Content is read.
    Read,
    /// Content is written, or a name is made.
    Write,
    /// A name is removed; also the source of a move.
    Delete,
    /// Names or metadata are read.
    List,
    /// A program starts there.
    Run,
}

impl Op {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Delete, Self::List, Self::Run];

    /// As `--op` takes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
            Self::List => "list",
            Self::Run => "run",
        }
    }

    /// The one of that exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.as_str() == name)
    }

    /// What a call of the endpoint does to the path in the parameter `role`, where nobody says.
    #[must_use]
    pub fn usual(endpoint: Option<&EndpointDecl>, role: &str) -> Self {
        let asks = |scope| endpoint.is_some_and(|endpoint| endpoint.scopes.contains(&scope));
        match role {
            "source" => Self::Delete,
            "destination" => Self::Write,
            "cwd" => Self::Run,
            _ if asks("files:delete") => Self::Delete,
            _ if asks("files:write") => Self::Write,
            _ if asks("files:read") => Self::Read,
            _ => Self::Run,
        }
    }

    /// Whether it changes something, which `read_only` refuses.
    #[must_use]
    pub const fn changes(self) -> bool {
        matches!(self, Self::Write | Self::Delete)
    }
}

/// What is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision<'a> {
    /// No gate refuses.
    Allow,
    /// A gate refuses.
    Deny(Denial<'a>),
}

impl Decision<'_> {
    /// Whether the call may happen.
    #[must_use]
    pub const fn is_allow(&self) -> bool {
        matches!(self, Self::Allow)
    }
}

/// Why a call may not happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial<'a> {
    /// The gate that refuses.
    pub gate: Gate,
    /// HTTP status of the refusal.
    pub status: u16,
    /// Its code: `path_denied`, `missing_scope`.
    pub code: &'static str,
    /// What decided: `element.rule` is the rule to name.
    pub element: ElementRef,
    /// The parameter it is about: the role of a path, the name of a variable.
    pub parameter: Option<&'a str>,
    /// The scope that is missing.
    pub scope: Option<Cow<'a, str>>,
    /// The limit that is passed.
    pub limit: Option<u64>,
}

impl Denial<'_> {
    /// The rule to name.
    #[must_use]
    pub const fn rule(&self) -> RuleIx {
        self.element.rule
    }
}

/// Decides. The first gate that refuses says why.
#[must_use]
pub fn decide<'a>(policy: &'a CompiledPolicy, query: &Query<'a>) -> Decision<'a> {
    for gate in Gate::ALL {
        if let GateOutcome::Fail(denial) = gate.judge(policy, query) {
            return Decision::Deny(denial);
        }
    }
    Decision::Allow
}

/// What every gate says, in pipeline order, also after the first that refuses.
#[must_use]
pub fn gates<'a>(policy: &'a CompiledPolicy, query: &Query<'a>) -> Vec<GateReport<'a>> {
    Gate::ALL.into_iter().map(|gate| GateReport { gate, outcome: gate.judge(policy, query) }).collect()
}
