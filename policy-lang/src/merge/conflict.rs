//! `conflicting-globs`: two equally specific rules of one layer that say different things of one endpoint, with nothing
//! more specific to settle it. Rules that agree are no finding, nor is a conflict that an exact id or a later layer decides.

use crate::diag::{Code, Diagnostic, Label, Severity};
use crate::endpoint::{Catalogue, EndpointId, KEYS, Key, MergeLaw};
use crate::layer::Specificity;
use crate::merge::Merged;
use crate::merge::index::rank;
use crate::resolved::{EndpointIx, List, Resolved, ResolvedKey, ResolvedValue, StatementIx};
use std::collections::BTreeMap;

/// One finding for each pair of statements that conflict, whatever number of endpoints it concerns.
pub(crate) fn conflicts(merged: &Merged<'_>, catalogue: &Catalogue) -> Vec<Diagnostic> {
    let pairs = pairs(&merged.resolved);
    pairs.into_iter().filter_map(|(pair, affects)| finding(merged, catalogue, pair, &affects)).collect()
}

/// Two statements, the first of which would win by no more than the order of names.
type Pair = (StatementIx, StatementIx);

/// Every pair that conflicts, and the endpoints it conflicts on.
pub(crate) fn pairs(resolved: &Resolved) -> BTreeMap<Pair, Vec<EndpointIx>> {
    // Whether a pair agrees is asked once, not once per endpoint: the lists may be long.
    let mut pairs: BTreeMap<Pair, Option<Vec<EndpointIx>>> = BTreeMap::new();
    for (endpoint, keys) in (0..).map(EndpointIx).zip(&resolved.endpoints) {
        for pair in keys.iter().flat_map(|key| tied(resolved, key)) {
            let conflict = pairs.entry(pair).or_insert_with(|| (!agree(resolved, pair)).then(Vec::new));
            if let Some(affects) = conflict {
                affects.push(endpoint);
            }
        }
    }
    pairs.into_iter().filter_map(|(pair, affects)| Some((pair, affects?))).collect()
}

/// The winner beside each statement that is as strong as it.
fn tied<'a>(resolved: &'a Resolved, said: &'a ResolvedKey) -> impl Iterator<Item = Pair> + 'a {
    let replaces = KEYS.get(said.key.index()).is_some_and(|decl| decl.law == MergeLaw::Replace);
    let first = said.statements.first().copied().filter(|_| replaces && said.key != Key::Enabled);
    let top = first.and_then(|first| rank(resolved, first));
    let others = said.statements.iter().skip(1).take_while(move |other| rank(resolved, **other) == top);
    others.filter_map(move |other| Some((first?, *other)))
}

fn agree(resolved: &Resolved, (a, b): Pair) -> bool {
    match (resolved.statement(a), resolved.statement(b)) {
        (Some(a), Some(b)) => same_value(&a.value, &b.value),
        _ => true,
    }
}

/// Whether two values mean the same: the order of a list says nothing.
#[must_use]
pub(crate) fn same_value(a: &ResolvedValue, b: &ResolvedValue) -> bool {
    match (a, b) {
        (ResolvedValue::List(a), ResolvedValue::List(b)) => as_set(a) == as_set(b),
        (a, b) => a == b,
    }
}

fn as_set(list: &List) -> Vec<&str> {
    let mut values: Vec<&str> = list.values().collect();
    values.sort_unstable();
    values.dedup();
    values
}

fn finding(
    merged: &Merged<'_>,
    catalogue: &Catalogue,
    (first, other): Pair,
    affects: &[EndpointIx],
) -> Option<Diagnostic> {
    let span = |at| merged.written(at).and_then(|written| written.value_span.or(written.key_span));
    // The finding stands at the later of the two, where the conflict came about.
    let (early, late) = if span(first) <= span(other) { (first, other) } else { (other, first) };
    let rule = |at| merged.resolved.rule(merged.resolved.statement(at)?.rule);
    let (early_rule, late_rule) = (rule(early)?, rule(late)?);
    let key = merged.resolved.statement(first)?.key.as_str();
    let example = catalogue.name(*affects.first()?);
    let others = match affects.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let (a, b) = (short(&early_rule.name), short(&late_rule.name));
    let help = if late_rule.specificity == Specificity::Glob {
        format!(
            "two globs are equally specific, however tight: say `{key}` under the exact id, or keep the globs apart"
        )
    } else {
        "the two are one selector in two spellings: keep one of them".to_owned()
    };
    Some(Diagnostic {
        code: Code::ConflictingGlobs,
        severity: Severity::Error,
        message: if a == b {
            format!("`{a}` is said twice, with different values for `{key}` of `{example}`{others}")
        } else {
            format!("`{a}` and `{b}` give `{example}`{others} different values for `{key}`")
        },
        help: Some(help),
        primary: span(late).map(|span| Label { span, message: format!("`{b}` says this") }),
        related: span(early)
            .map(|span| Label { span, message: format!("`{a}` says this") })
            .into_iter()
            .collect(),
        affects: affects.iter().filter_map(|ix| EndpointId::ALL.get(usize::from(ix.0)).copied()).collect(),
        suggestions: Vec::new(),
        more: 0,
    })
}

/// A rule's name without its layer.
fn short(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, rest)| rest)
}
