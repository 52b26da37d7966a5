//! A call on which two policies differ, and the question put to each of them.

mod show;

use crate::decide::{CommandQuery, Decision, Op, PathQuery, Query, VariableQuery, VariableUse, decide};
use crate::endpoint::{AuditLevel, EndpointId, Key};
use crate::matchers::url::Target;
use crate::paths::Symlinks;
use crate::policy::{CompiledPolicy, ElementRef, EndpointPolicy, Ruled};
use crate::resolved::EndpointIx;
use crate::scope::ScopeSet;
use std::net::IpAddr;

/// A call. Members that are absent are not asked about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Witness {
    /// The endpoint's id.
    pub endpoint: String,
    /// Who calls, of `auth.tokens`: what the token holds is what is asked, and a policy without it refuses.
    pub identity: Option<String>,
    /// What the caller holds.
    pub scopes: Option<Vec<String>>,
    /// The command that a call of `commands_run` names.
    pub command_name: Option<String>,
    /// Size of the request body.
    pub request_bytes: Option<u64>,
    /// Size of the file, answer or transfer.
    pub bytes: Option<u64>,
    /// The path in normal form, and what is done to it.
    pub path: Option<(Vec<u8>, Op)>,
    /// The program, as `argv[0]`.
    pub command: Option<String>,
    /// The shell it names.
    pub shell: Option<String>,
    /// The language of its snippet.
    pub language: Option<String>,
    /// The signal it sends.
    pub signal: Option<u8>,
    /// The URL it opens.
    pub url: Option<String>,
    /// What the URL's host resolves to.
    pub addresses: Vec<IpAddr>,
    /// The loopback port.
    pub port: Option<u16>,
    /// A variable and how it is used.
    pub variable: Option<(String, VariableUse)>,
    /// What is asked beyond the decision.
    pub beyond: Option<Beyond>,
}

/// What a policy settles that no gate judges, because only the work itself can meet it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beyond {
    /// So many of what a limit counts: calls a minute, calls at once, entries, bytes of output, seconds.
    Amount(Key, u64),
    /// The write meets a file of that name.
    Overwrite,
    /// The path leads through a link whose target is allowed.
    Link,
    /// The call is permitted and leaves no line in the audit log.
    Unrecorded,
    /// The child is given a variable of the server's own environment.
    Inherited(String),
}

/// What a policy says of a witness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Whether it lets it happen.
    pub allowed: bool,
    /// The code of the refusal.
    pub code: Option<&'static str>,
    /// What refuses; [`ElementRef::BASE`] where no document says so.
    pub element: ElementRef,
}

impl Answer {
    const ALLOWED: Self = Self { allowed: true, code: None, element: ElementRef::BASE };

    const fn refused(code: &'static str, element: ElementRef) -> Self {
        Self { allowed: false, code: Some(code), element }
    }
}

impl Witness {
    /// A call of an endpoint of which nothing else is asked.
    pub(super) fn of(endpoint: &str) -> Self {
        Self { endpoint: endpoint.to_owned(), ..Self::default() }
    }

    /// Asks a policy: [`decide`] first, then what lies beyond it.
    #[must_use]
    pub fn ask(&self, policy: &CompiledPolicy) -> Answer {
        let Some(endpoint) = endpoint(policy, &self.endpoint) else {
            return Answer::refused("endpoint_disabled", ElementRef::BASE);
        };
        let held = match self.held(policy) {
            Ok(held) => held,
            Err(answer) => return answer,
        };
        let path = self.path.as_ref().map(|(path, op)| PathQuery { role: "path", path, op: *op });
        let variable = self.variable.as_ref().map(|(name, usage)| VariableQuery { name, usage: *usage });
        let url = match self.url.as_deref().map(Target::parse) {
            Some(None) => return Answer::refused("url_not_allowed", ElementRef::BASE),
            read => read.flatten(),
        };
        let query = Query {
            scopes: held.as_ref(),
            scope_param: self.command_name.as_deref(),
            request_bytes: self.request_bytes,
            paths: path.as_slice(),
            command: self.command.as_deref().map(|argv0| CommandQuery { argv0, found: None, target: None }),
            shell: self.shell.as_deref(),
            language: self.language.as_deref(),
            signal: self.signal,
            url: url.as_ref(),
            addresses: &self.addresses,
            port: self.port,
            variables: variable.as_slice(),
            bytes: self.bytes,
            ..Query::of(endpoint)
        };
        match (decide(policy, &query), policy.endpoint(endpoint)) {
            (Decision::Deny(denial), _) => Answer::refused(denial.code, denial.element),
            (Decision::Allow, Some(rules)) => {
                self.beyond.as_ref().map_or(Answer::ALLOWED, |beyond| beyond.ask(rules))
            }
            (Decision::Allow, None) => Answer::ALLOWED,
        }
    }

    /// What the caller holds under this policy.
    fn held(&self, policy: &CompiledPolicy) -> Result<Option<ScopeSet>, Answer> {
        let Some(identity) = &self.identity else {
            let named = |names: &Vec<String>| ScopeSet::parse(names.iter().map(String::as_str)).ok();
            return Ok(self.scopes.as_ref().and_then(named));
        };
        let known = policy.principals().unwrap_or_default().iter().find(|known| *known.id == **identity);
        match known {
            Some(known) => Ok(Some(known.scopes.clone())),
            None => Err(Answer::refused("unauthorized", ElementRef::BASE)),
        }
    }
}

impl Beyond {
    fn ask(&self, rules: &EndpointPolicy) -> Answer {
        let refused = |code, rule| Answer::refused(code, ElementRef { rule, ..ElementRef::BASE });
        match self {
            Self::Amount(key, amount) => match rules.limits.of(*key) {
                Some(limit) if *amount > limit.value => refused(passed(*key), limit.rule),
                _ => Answer::ALLOWED,
            },
            Self::Overwrite => match rules.params.overwrite {
                Some(overwrite) if !overwrite.value => refused("already_exists", overwrite.rule),
                _ => Answer::ALLOWED,
            },
            Self::Link => match rules.paths.as_ref().map(|paths| paths.symlinks()) {
                Some(links) if links.value == Symlinks::Deny => refused("symlink_denied", links.rule),
                _ => Answer::ALLOWED,
            },
            Self::Unrecorded => match rules.audit {
                Ruled { value: AuditLevel::All, rule } => refused("recorded", rule),
                _ => Answer::ALLOWED,
            },
            Self::Inherited(name) => {
                let denied = rules.params.env.as_ref().and_then(|rules| rules.refuses(name));
                denied.map_or(Answer::ALLOWED, |element| Answer::refused("not_inherited", element))
            }
        }
    }
}

/// What a call meets past a limit that no gate judges.
const fn passed(key: Key) -> &'static str {
    match key {
        Key::LimitsRatePerMinute => "rate_limited",
        Key::LimitsMaxConcurrency => "too_many_concurrent",
        Key::LimitsTimeoutSeconds | Key::LimitsMaxDurationSeconds => "timeout",
        _ => "truncated",
    }
}

/// The endpoint of an id, a custom one's among them.
pub(super) fn endpoint(policy: &CompiledPolicy, id: &str) -> Option<EndpointIx> {
    if let Some(known) = EndpointId::from_name(id) {
        return Some(known.into());
    }
    let at = policy.resolved().custom.iter().position(|route| route.id == id)?;
    u16::try_from(EndpointId::COUNT + at).ok().map(EndpointIx)
}
