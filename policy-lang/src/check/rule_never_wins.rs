//! `rule-never-wins`: a value that is beaten on every endpoint its selector covers.

use super::Context;
use super::context::{Authored, beside};
use crate::diag::{Code, Diagnostic};
use crate::endpoint::{KEYS, MergeLaw};
use crate::layer::LayerKind;
use crate::merge::conflict::same_value;
use crate::merge::index::closes;
use crate::resolved::{EndpointIx, RuleIx, StatementIx};
use std::collections::BTreeMap;

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    // Values of one rule that fall to the same rule are one mistake.
    let mut beaten: BTreeMap<(RuleIx, RuleIx), Vec<(Authored<'_>, StatementIx)>> = BTreeMap::new();
    for authored in context.authored() {
        if let Some(winner) = always_beaten(context, &authored) {
            let by = context.resolved().statement(winner).map_or(RuleIx::BASE, |said| said.rule);
            beaten.entry((authored.said.rule, by)).or_default().push((authored, winner));
        }
    }
    beaten.values().filter_map(|losers| finding(context, losers)).collect()
}

/// The statement that beats it on the first endpoint, where it wins on none and differs from a winner on some.
pub(super) fn always_beaten(context: &Context<'_>, authored: &Authored<'_>) -> Option<StatementIx> {
    let key = authored.said.key;
    if KEYS.get(key.index())?.law != MergeLaw::Replace {
        return None;
    }
    let takers = context.takers(&authored.block.selector, key);
    let winner = |endpoint: &EndpointIx| context.candidates(*endpoint, key).first().copied();
    let winners: Vec<StatementIx> = takers.iter().filter_map(winner).collect();
    if winners.is_empty() || winners.contains(&authored.at) {
        return None;
    }
    // The winners are few however wide the selector is, so each is looked at once.
    let mut distinct = winners.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let differs = distinct.iter().any(|at| {
        context.resolved().statement(*at).is_some_and(|said| !same_value(&said.value, &authored.said.value))
    });
    // What the environment opens, and a close that does not hold, have codes of their own.
    let elsewhere = distinct.iter().any(|at| {
        context.rule(*at).is_some_and(|rule| {
            rule.layer == LayerKind::Environment || (closes(authored.said) && rule.layer < LayerKind::Policy)
        })
    });
    (differs && !elsewhere).then(|| winners.first().copied()).flatten()
}

fn finding(context: &Context<'_>, losers: &[(Authored<'_>, StatementIx)]) -> Option<Diagnostic> {
    let (first, winner) = losers.first()?;
    let (loser, by) = (context.rule(first.at)?, context.rule(*winner)?);
    let keys: Vec<String> =
        losers.iter().map(|(authored, _)| format!("`{}`", authored.said.key.as_str())).collect();
    let why = if by.specificity > loser.specificity {
        format!("a {} is more specific than a {}", noun(by.specificity), noun(loser.specificity))
    } else if by.layer > loser.layer {
        format!("it is as specific and stands in the later layer {}", by.layer.as_str())
    } else {
        "of equally specific rules in one layer a single `false` closes".to_owned()
    };
    let message =
        format!("{} of `{}` never wins: `{}` always beats it", keys.join(", "), first.block.name, by.name);
    let finding = Diagnostic::new(Code::RuleNeverWins, message).help(format!(
        "{why}; say it under the exact id{}, or remove it",
        if by.layer == LayerKind::Preset { " or a glob" } else { "" }
    ));
    let written = context.merged.written(*winner).and_then(|written| written.value_span.or(written.key_span));
    let finding =
        beside(first.mark(finding, first.span(), "never wins"), written, format!("`{}` wins", by.name));
    let finding = remove(context, losers, finding);
    let takers = context.takers(&first.block.selector, first.said.key);
    Some(context.affecting(finding, &first.block.selector, &takers))
}

/// Offers to take the beaten keys out: what never wins changes no value.
fn remove(context: &Context<'_>, losers: &[(Authored<'_>, StatementIx)], finding: Diagnostic) -> Diagnostic {
    let Some((first, _)) = losers.first() else { return finding };
    let written = |authored: &Authored<'_>| authored.written.via.is_none().then(|| authored.key_span())?;
    let whole = losers.len() == first.block.statements.len();
    let places: Option<Vec<_>> = if whole {
        first.block.span.map(|span| vec![span])
    } else {
        losers.iter().map(|(one, _)| written(one)).collect()
    };
    let what =
        if whole { "the rule".to_owned() } else { format!("what never wins of `{}`", first.block.name) };
    match places.and_then(|places| context.deletion(format!("remove {what}"), &places)) {
        Some(suggestion) => finding.suggest(suggestion),
        None => finding,
    }
}

const fn noun(specificity: crate::layer::Specificity) -> &'static str {
    match specificity {
        crate::layer::Specificity::Defaults => "rule for all",
        crate::layer::Specificity::Group => "group",
        crate::layer::Specificity::Glob => "glob",
        crate::layer::Specificity::Exact => "exact id",
    }
}
