//! Which rules of the document no test decides.
//!
//! A test decides a key of a rule where the key says what holds for the test's endpoint and the test asks of it: a gate
//! that the key feeds was asked (none after the one that refuses), or the test expects that very limit. Of a deny-list
//! only the one that refuses decides.

use super::read::Suite;
use super::run::reports;
use crate::decide::Gate;
use crate::decide::gates::GateOutcome;
use crate::endpoint::{KEYS, Key, MergeLaw};
use crate::layer::LayerKind;
use crate::policy::CompiledPolicy;
use crate::resolved::{FilePlace, Resolved, RuleIx, StatementIx};
use std::collections::{BTreeMap, BTreeSet};

/// What tests decide of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Keys of rules in the document that a test can speak of.
    pub total: usize,
    /// Those that a test decides.
    pub decided: usize,
    /// The rules of which a key is not decided, in written order.
    pub missing: Vec<Missing>,
}

/// A rule with keys that no test decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Its name.
    pub rule: String,
    /// Where it stands.
    pub at: Option<FilePlace>,
    /// The keys.
    pub keys: Vec<Key>,
    /// Whether no key of it is decided.
    pub whole: bool,
}

/// Counts what the tests decide.
#[must_use]
pub fn coverage(suites: &[&Suite], policy: &CompiledPolicy) -> Coverage {
    let resolved = policy.resolved();
    let mut decided: BTreeSet<StatementIx> = BTreeSet::new();
    for test in suites.iter().flat_map(|suite| &suite.tests) {
        let endpoint = test.ask.endpoint;
        for (key, _) in &test.expect.limits {
            decided.extend(resolved.candidates(endpoint, *key).first());
        }
        reports(&test.ask, policy, |_, reports, refusing| {
            for report in reports {
                let fails = matches!(report.outcome, GateOutcome::Fail(_));
                let asked = !matches!(report.outcome, GateOutcome::NotAsked | GateOutcome::AtCallTime(..));
                if asked {
                    for key in keys(report.gate) {
                        decided.extend(deciding(resolved, endpoint, *key, refusing.filter(|_| fails)));
                    }
                }
                if fails {
                    break;
                }
            }
        });
    }
    sum(resolved, &decided)
}

/// The statement of a key that decides: the winner, or of a deny-list that of the refusing rule.
fn deciding(
    resolved: &Resolved,
    endpoint: crate::resolved::EndpointIx,
    key: Key,
    refusing: Option<RuleIx>,
) -> Option<StatementIx> {
    let candidates = resolved.candidates(endpoint, key);
    if KEYS.get(key.index())?.law == MergeLaw::Replace {
        return candidates.first().copied();
    }
    let by = |at: &&StatementIx| resolved.statement(**at).map(|said| said.rule) == refusing;
    refusing.and_then(|_| candidates.iter().find(by).copied())
}

fn sum(resolved: &Resolved, decided: &BTreeSet<StatementIx>) -> Coverage {
    let mut rules: BTreeMap<RuleIx, Vec<(Key, bool)>> = BTreeMap::new();
    for (at, statement) in (0..).map(StatementIx).zip(&resolved.statements) {
        let ours = resolved.rule(statement.rule).is_some_and(|rule| rule.layer == LayerKind::Policy);
        if ours && is_observable(statement.key) {
            rules.entry(statement.rule).or_default().push((statement.key, decided.contains(&at)));
        }
    }
    let total = rules.values().map(Vec::len).sum();
    let count = rules.values().flatten().filter(|(_, decided)| *decided).count();
    let missing = rules.into_iter().filter_map(|(ix, keys)| {
        let open: Vec<Key> = keys.iter().filter(|(_, decided)| !decided).map(|(key, _)| *key).collect();
        let rule = resolved.rule(ix)?;
        let whole = open.len() == keys.len();
        (!open.is_empty()).then(|| Missing { rule: rule.name.clone(), at: rule.at, keys: open, whole })
    });
    Coverage { total, decided: count, missing: missing.collect() }
}

/// Whether a test can speak of a key at all. Whether a write may replace a file, whether links are followed and what is
/// logged is no part of an answer.
pub(super) fn is_observable(key: Key) -> bool {
    let limit = key.as_str().starts_with("limits.");
    limit || Gate::ALL.into_iter().any(|gate| keys(gate).contains(&key))
}

/// The keys that feed a gate.
const fn keys(gate: Gate) -> &'static [Key] {
    match gate {
        Gate::Enabled => &[Key::Enabled],
        Gate::Scopes => &[Key::Scopes],
        Gate::Rate | Gate::Concurrency => &[],
        Gate::RequestBytes => &[Key::LimitsMaxRequestBytes],
        Gate::Path => &[Key::PathsAllow, Key::PathsDeny, Key::PathsReadOnly],
        Gate::Extension => &[Key::ParamsAllowExtensions, Key::ParamsDenyExtensions],
        Gate::Command => &[Key::ParamsAllowCommands, Key::ParamsDenyCommands],
        Gate::Shell => &[Key::ParamsShells],
        Gate::Language => &[Key::ParamsLanguages],
        Gate::Signal => &[Key::ParamsAllowedSignals],
        Gate::Url => &[Key::ParamsUrlAllow, Key::ParamsUrlDeny, Key::ParamsBlockPrivateNetworks],
        Gate::Port => &[Key::ParamsAllowPorts, Key::ParamsDenyPorts],
        Gate::Variable => &[Key::ParamsAllowVars, Key::ParamsDenyVars, Key::ParamsEnvDeny],
        Gate::Bytes => &[Key::LimitsMaxBytes],
    }
}
