//! The compiled policy: what a running server holds. Nothing in here is parsed or merged per request; what is only sorted
//! may wait until it is asked for the first time, see [`CompiledPolicy::prepare`].
//!
//! [`CompiledPolicy`] is made by [`crate::compile`] from a [`Resolved`] and keeps it beside the tables that decide, so
//! that a refusal can name its rule and the place of the rule.

use crate::endpoint::{AuditLevel, ENDPOINTS, EndpointDecl, EndpointId, Key};
use crate::matchers::command::CommandRules;
use crate::matchers::extension::ExtensionRules;
use crate::matchers::port::PortRules;
use crate::matchers::signal::SignalList;
use crate::matchers::url::UrlRules;
use crate::matchers::variable::VariableRules;
use crate::matchers::words::WordList;
use crate::paths::PathRules;
pub use crate::resolved::{EndpointIx, List, RuleIx};
use crate::resolved::{FilePlace, Resolved, Rule, StatementIx};
use crate::scope::{ScopeNeed, ScopeSet};
use std::sync::Arc;

/// A value and the rule that says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ruled<T> {
    /// The value.
    pub value: T,
    /// The rule.
    pub rule: RuleIx,
}

/// Which element of which statement decided: the finest provenance there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementRef {
    /// The rule.
    pub rule: RuleIx,
    /// The statement; none where a base value or the machinery itself decided.
    pub statement: Option<StatementIx>,
    /// Position in the statement's list; [`ElementRef::WHOLE`] where no single element decided.
    pub element: u32,
}

impl ElementRef {
    /// The statement as a whole: a value that is no list, or a list that lacks what it should hold.
    pub const WHOLE: u32 = u32::MAX;
    /// What no document said: the catalogue, or a refusal that no rule can lift.
    pub const BASE: Self = Self { rule: RuleIx::BASE, statement: None, element: Self::WHOLE };
}

/// A list of a rule, and where it came from. Its elements are numbered from 0.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    /// The list.
    pub list: &'a List,
    /// The statement as a whole.
    pub origin: ElementRef,
}

/// The resolved limits of one endpoint. `None`: no limit but the server's own. Sizes in bytes, times in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Largest file, answer or transfer.
    pub max_bytes: Option<Ruled<u64>>,
    /// Largest request body.
    pub max_request_bytes: Option<Ruled<u64>>,
    /// Most entries in an answer.
    pub max_entries: Option<Ruled<u64>>,
    /// Longest life of what a call starts or holds open.
    pub max_duration_seconds: Option<Ruled<u64>>,
    /// Most output kept or returned.
    pub max_output_bytes: Option<Ruled<u64>>,
    /// Longest time of one call.
    pub timeout_seconds: Option<Ruled<u64>>,
    /// Calls a minute and principal.
    pub rate_per_minute: Option<Ruled<u64>>,
    /// Calls at the same time per principal.
    pub max_concurrency: Option<Ruled<u64>>,
}

impl Limits {
    /// The limit behind a key; none where the key is no limit, or nobody bounds it.
    #[must_use]
    pub const fn of(&self, key: Key) -> Option<Ruled<u64>> {
        match key {
            Key::LimitsMaxBytes => self.max_bytes,
            Key::LimitsMaxRequestBytes => self.max_request_bytes,
            Key::LimitsMaxEntries => self.max_entries,
            Key::LimitsMaxDurationSeconds => self.max_duration_seconds,
            Key::LimitsMaxOutputBytes => self.max_output_bytes,
            Key::LimitsTimeoutSeconds => self.timeout_seconds,
            Key::LimitsRatePerMinute => self.rate_per_minute,
            Key::LimitsMaxConcurrency => self.max_concurrency,
            _ => None,
        }
    }
}

/// The resolved parameters of one endpoint. `None`: the endpoint takes no such key, or nobody said anything and the
/// catalogue has no base value, so everything goes.
#[derive(Debug, Clone, Default)]
pub struct Params {
    /// Whether a write may replace a file.
    pub overwrite: Option<Ruled<bool>>,
    /// Extensions of written names.
    pub extensions: Option<Box<ExtensionRules>>,
    /// Programs.
    pub commands: Option<Box<CommandRules>>,
    /// Shells that a call may name.
    pub shells: Option<Box<WordList>>,
    /// Languages of snippets.
    pub languages: Option<Box<WordList>>,
    /// Signals that may be sent.
    pub signals: Option<SignalList>,
    /// URLs and networks.
    pub urls: Option<Box<UrlRules>>,
    /// Ports of the tunnel.
    pub ports: Option<Box<PortRules>>,
    /// Variables that may be set and shown (`allow_vars`, `deny_vars`).
    pub variables: Option<Box<VariableRules>>,
    /// Variables that a request may not carry and children never inherit (`env_deny`).
    pub env: Option<Box<VariableRules>>,
}

/// Everything that holds for one endpoint.
#[derive(Debug, Clone)]
pub struct EndpointPolicy {
    /// Whether it answers.
    pub enabled: Ruled<bool>,
    /// What it asks of a caller.
    pub scopes: Ruled<ScopeNeed>,
    /// What is written to the audit log.
    pub audit: Ruled<AuditLevel>,
    /// Its limits.
    pub limits: Limits,
    /// Its path rules; present for every endpoint that accepts `paths`, shared among those that say the same.
    pub paths: Option<Arc<PathRules>>,
    /// Its other parameters.
    pub params: Params,
}

/// Where the secret of a principal is. The secret itself is never part of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// In the environment variable of that name.
    Env(Box<str>),
    /// Only its SHA-256 is known.
    Sha256([u8; 32]),
}

/// A caller known by a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Its id.
    pub id: Box<str>,
    /// What it holds.
    pub scopes: ScopeSet,
    /// Where its secret is.
    pub secret: SecretSource,
    /// Where it was declared.
    pub at: Option<FilePlace>,
}

/// A compiled policy.
#[derive(Debug, Clone)]
pub struct CompiledPolicy {
    pub(crate) endpoints: Box<[EndpointPolicy]>,
    pub(crate) principals: Option<Box<[Principal]>>,
    pub(crate) base_dir: Box<str>,
    pub(crate) base_values: Box<[(EndpointId, Key, u64)]>,
    pub(crate) revision: Box<str>,
    pub(crate) resolved: Resolved,
}

impl CompiledPolicy {
    /// What holds for an endpoint; none for an index that this policy does not know.
    #[must_use]
    pub fn endpoint(&self, ix: EndpointIx) -> Option<&EndpointPolicy> {
        self.endpoints.get(usize::from(ix.0))
    }

    /// Every endpoint, the catalogue's first.
    pub fn endpoints(&self) -> impl ExactSizeIterator<Item = (EndpointIx, &EndpointPolicy)> {
        // The number of endpoints was checked to fit when this was compiled.
        self.endpoints
            .iter()
            .enumerate()
            .map(|(ix, policy)| (EndpointIx(u16::try_from(ix).unwrap_or(u16::MAX)), policy))
    }

    /// The path rules of all endpoints, each once: those under the same statements share theirs.
    #[must_use]
    pub fn path_rules(&self) -> Vec<&PathRules> {
        let mut rules: Vec<&Arc<PathRules>> =
            self.endpoints.iter().filter_map(|endpoint| endpoint.paths.as_ref()).collect();
        rules.sort_unstable_by_key(|rules| Arc::as_ptr(rules));
        rules.dedup_by_key(|rules| Arc::as_ptr(rules));
        rules.into_iter().map(|rules| &**rules).collect()
    }

    /// The id of an endpoint as a policy writes it: `files_list`, `custom:<name>`.
    #[must_use]
    pub fn name(&self, ix: EndpointIx) -> Option<&str> {
        let at = usize::from(ix.0);
        let custom =
            || self.resolved.custom.get(at.checked_sub(ENDPOINTS.len())?).map(|custom| custom.id.as_str());
        ENDPOINTS.get(at).map(|decl| decl.name).or_else(custom)
    }

    /// The declaration of a built-in endpoint; none for a custom one.
    #[must_use]
    pub fn decl(&self, ix: EndpointIx) -> Option<&'static EndpointDecl> {
        ENDPOINTS.get(usize::from(ix.0))
    }

    /// The callers of `auth.tokens`; `None` where the document has no such list, which differs from an empty one.
    #[must_use]
    pub fn principals(&self) -> Option<&[Principal]> {
        self.principals.as_deref()
    }

    /// What the process has put in the place of the catalogue's value for a key.
    #[must_use]
    pub fn base_value(&self, ix: EndpointIx, key: Key) -> Option<u64> {
        let id = ENDPOINTS.get(usize::from(ix.0))?.id;
        let replaced = self.base_values.iter().find(|(of, named, _)| (*of, *named) == (id, key));
        replaced.map(|(_, _, value)| *value)
    }

    /// Where relative paths start. Absolute and normal.
    #[must_use]
    pub fn base_dir(&self) -> &str {
        &self.base_dir
    }

    /// The preset that took part.
    #[must_use]
    pub fn preset(&self) -> &str {
        self.resolved.preset.as_deref().unwrap_or("default")
    }

    /// Digest of the resolved content; empty where the caller gave none.
    #[must_use]
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// What this was compiled from.
    #[must_use]
    pub fn resolved(&self) -> &Resolved {
        &self.resolved
    }

    /// A rule.
    #[must_use]
    pub fn rule(&self, ix: RuleIx) -> Option<&Rule> {
        self.resolved.rule(ix)
    }

    /// The name of a rule: `policy:endpoints.shell`, `default:base`.
    #[must_use]
    pub fn rule_name(&self, ix: RuleIx) -> &str {
        self.rule(ix).map_or("default:base", |rule| &rule.name)
    }

    /// Where an element was written, or else its statement, or else its rule.
    #[must_use]
    pub fn place(&self, element: ElementRef) -> Option<FilePlace> {
        let statement = element.statement.and_then(|ix| self.resolved.statement(ix));
        let of_element = statement.and_then(|statement| match &statement.value {
            crate::resolved::ResolvedValue::List(list) => list.get(element.element as usize)?.at,
            _ => None,
        });
        of_element.or_else(|| statement?.at).or_else(|| self.rule(element.rule)?.at)
    }

    /// A place as refusals print it: `template.yaml:14:7`.
    #[must_use]
    pub fn print_place(&self, place: FilePlace) -> String {
        let file = self.resolved.files.get(place.file as usize).map_or("?", |file| &file.name);
        format!("{file}:{}:{}", place.line, place.column)
    }
}
