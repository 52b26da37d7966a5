//! Every key of an endpoint with its value, the rule that says it, and the rules it beat.

use crate::endpoint::{AuditLevel, BaseValue, Catalogue, EndpointId, KEYS, Key, MergeLaw};
use crate::layer::LayerKind;
use crate::merge::conflict::same_value;
use crate::policy::CompiledPolicy;
use crate::resolved::{
    EndpointIx, FilePlace, List, Resolved, ResolvedStatement, ResolvedValue, RuleIx, StatementIx,
};
use std::borrow::Cow;

/// A key and what holds for it.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyReport<'a> {
    /// Which key.
    pub key: Key,
    /// What holds.
    pub holds: Holds<'a>,
}

/// What holds for a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Holds<'a> {
    /// A replacing key: one rule says the value.
    One {
        /// The value and its rule.
        winner: Said<'a>,
        /// What it beat, strongest first.
        beaten: Vec<Beaten<'a>>,
    },
    /// An accumulating key: every element of every rule that matches, strongest rule first.
    Union(Vec<SaidElement<'a>>),
}

/// A value and the rule that says it.
#[derive(Debug, Clone, PartialEq)]
pub struct Said<'a> {
    /// The value. Sizes are bytes, durations seconds.
    pub value: Cow<'a, ResolvedValue>,
    /// The name of the rule.
    pub rule: &'a str,
    /// Its layer.
    pub layer: LayerKind,
    /// Where the value was written; none for what no text says.
    pub at: Option<FilePlace>,
}

/// A value that lost.
#[derive(Debug, Clone, PartialEq)]
pub struct Beaten<'a> {
    /// What it said.
    pub said: Said<'a>,
    /// Why it lost.
    pub reason: Reason,
}

/// Why a rule lost to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// It says the same, so nothing was lost.
    SameValue,
    /// Its selector is less specific.
    LessSpecific,
    /// It is as specific and stands in an earlier layer.
    EarlierLayer,
    /// It is as specific, in the same layer, and says `true` where another says `false`.
    FalseCloses,
}

impl Reason {
    /// As reports print it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SameValue => "same-value",
            Self::LessSpecific => "less-specific",
            Self::EarlierLayer => "earlier-layer",
            Self::FalseCloses => "false-closes",
        }
    }
}

/// One element of an accumulating key.
#[derive(Debug, Clone, PartialEq)]
pub struct SaidElement<'a> {
    /// The element as written.
    pub value: &'a str,
    /// The name of the rule.
    pub rule: &'a str,
    /// Its layer.
    pub layer: LayerKind,
    /// Where it was written.
    pub at: Option<FilePlace>,
}

/// The keys of an endpoint that have a value, in the order of the key table. A key that is absent here restricts nothing.
#[must_use]
pub fn keys<'a>(
    policy: &'a CompiledPolicy,
    catalogue: &Catalogue,
    endpoint: EndpointIx,
) -> Vec<KeyReport<'a>> {
    let resolved = policy.resolved();
    let accepted = catalogue.accepts(endpoint);
    let report = |key: Key| {
        let candidates = resolved.candidates(endpoint, key);
        let accumulates = KEYS.get(key.index()).is_some_and(|decl| decl.law == MergeLaw::Accumulate);
        let holds = if accumulates {
            let elements: Vec<_> = candidates.iter().flat_map(|at| elements(resolved, *at)).collect();
            (!elements.is_empty()).then_some(Holds::Union(elements))
        } else {
            let replaced = || policy.base_value(endpoint, key).map(ResolvedValue::Number);
            one(resolved, candidates, || {
                let (value, rule) = base(catalogue, policy.base_dir(), endpoint, key)?;
                Some((replaced().unwrap_or(value), rule))
            })
        };
        holds.map(|holds| KeyReport { key, holds })
    };
    accepted.iter().filter_map(report).collect()
}

/// The winner with what it beat; what is not said by a rule is said by the catalogue, which is always beaten last.
fn one<'a>(
    resolved: &'a Resolved,
    candidates: &[StatementIx],
    base: impl FnOnce() -> Option<(ResolvedValue, RuleIx)>,
) -> Option<Holds<'a>> {
    let by_rules = candidates.iter().filter_map(|at| said(resolved, *at));
    let base = base().map(|(value, rule)| Said {
        value: Cow::Owned(value),
        rule: name(resolved, rule),
        layer: LayerKind::Default,
        at: None,
    });
    let mut all = by_rules.chain(base.map(|said| (said, None)));
    let (winner, rank) = all.next()?;
    let beaten = all.map(|(said, loser)| {
        let reason = match (rank, loser) {
            _ if same_value(&said.value, &winner.value) => Reason::SameValue,
            (Some(rank), Some(loser)) if loser == rank => Reason::FalseCloses,
            (Some(rank), Some(loser)) if loser.specificity == rank.specificity => Reason::EarlierLayer,
            _ => Reason::LessSpecific,
        };
        Beaten { said, reason }
    });
    let beaten = beaten.collect();
    Some(Holds::One { winner, beaten })
}

fn said(resolved: &Resolved, at: StatementIx) -> Option<(Said<'_>, Option<crate::layer::Rank>)> {
    let statement: &ResolvedStatement = resolved.statement(at)?;
    let rule = resolved.rule(statement.rule)?;
    let said = Said {
        value: Cow::Borrowed(&statement.value),
        rule: &rule.name,
        layer: rule.layer,
        at: statement.at,
    };
    Some((said, Some(rule.rank())))
}

fn elements(resolved: &Resolved, at: StatementIx) -> impl Iterator<Item = SaidElement<'_>> {
    let statement = resolved.statement(at);
    let list = match statement.map(|statement| &statement.value) {
        Some(ResolvedValue::List(list)) => Some(list),
        _ => None,
    };
    let rule = statement.and_then(|statement| resolved.rule(statement.rule));
    list.into_iter().flat_map(List::iter).filter_map(move |element| {
        let rule = rule?;
        Some(SaidElement { value: element.value, rule: &rule.name, layer: rule.layer, at: element.at })
    })
}

fn name(resolved: &Resolved, rule: RuleIx) -> &str {
    resolved.rule(rule).map_or("default:base", |rule| &rule.name)
}

/// What the catalogue says of a key, and what holds by the language where it says nothing.
pub(crate) fn base(
    catalogue: &Catalogue,
    base_dir: &str,
    endpoint: EndpointIx,
    key: Key,
) -> Option<(ResolvedValue, RuleIx)> {
    let decl = catalogue.decl(endpoint);
    let list = |values: &mut dyn Iterator<Item = String>| ResolvedValue::List(List::of(values));
    if let Some((_, value)) = decl.and_then(|decl| decl.base.iter().find(|(of, _)| *of == key)) {
        let value = match value {
            BaseValue::Bool(value) => ResolvedValue::Bool(*value),
            BaseValue::Number(value) => ResolvedValue::Number(*value),
            BaseValue::Words(words) => list(&mut words.iter().map(|word| (*word).to_owned())),
            BaseValue::Numbers(numbers) => list(&mut numbers.iter().map(u64::to_string)),
        };
        return Some((value, RuleIx::BASE));
    }
    match key {
        Key::Enabled if catalogue.is_core(endpoint) => Some((ResolvedValue::Bool(true), RuleIx::CORE)),
        Key::Enabled => Some((ResolvedValue::Bool(true), RuleIx::ON)),
        Key::Scopes => {
            let custom = usize::from(endpoint.0)
                .checked_sub(EndpointId::COUNT)
                .and_then(|at| catalogue.custom().get(at));
            let declared = match decl {
                Some(decl) => list(&mut decl.scopes.iter().map(|scope| (*scope).to_owned())),
                None => list(&mut custom.into_iter().flat_map(|route| route.scopes.iter().cloned())),
            };
            Some((declared, RuleIx::BASE))
        }
        Key::Audit => {
            let level = match decl.map_or(AuditLevel::All, |decl| decl.audit) {
                AuditLevel::Off => "off",
                AuditLevel::Deny => "deny",
                AuditLevel::All => "all",
            };
            Some((ResolvedValue::Word(level.to_owned()), RuleIx::BASE))
        }
        Key::PathsAllow => Some((list(&mut std::iter::once(base_dir.to_owned())), RuleIx::BASE)),
        Key::PathsSymlinks => Some((ResolvedValue::Word("within".to_owned()), RuleIx::BASE)),
        _ => None,
    }
}
