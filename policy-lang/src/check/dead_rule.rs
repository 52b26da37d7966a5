//! `dead-rule`: a rule that changes no resolved value, with what shadows it.

use super::Context;
use super::context::{Authored, beside, place};
use super::dead::{Shadow, dead};
use super::rule_never_wins::always_beaten;
use crate::diag::{Code, Diagnostic};
use crate::layer::LayerKind;
use crate::merge::index::closes;
use crate::resolved::RuleIx;
use std::collections::BTreeMap;

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut dead = dead(context);
    if dead.is_empty() {
        return Vec::new();
    }
    let mut rules: BTreeMap<RuleIx, Vec<Authored<'_>>> = BTreeMap::new();
    for authored in context.authored().filter(|authored| dead.contains_key(&authored.said.rule)) {
        rules.entry(authored.said.rule).or_default().push(authored);
    }
    let told_elsewhere = |rule: &RuleIx, says: &[Authored<'_>]| {
        let shadows = dead.get(rule).map_or(&[][..], Vec::as_slice);
        // What the environment opens holds on this machine only.
        let environment = |shadow: &Shadow| context.is_layer(shadow.rule, LayerKind::Environment);
        let lower = |shadow: &Shadow| {
            shadow.beats
                && context.resolved().rule(shadow.rule).is_some_and(|rule| rule.layer < LayerKind::Policy)
        };
        says.iter().any(|authored| {
            always_beaten(context, authored).is_some()
                || (closes(authored.said) && shadows.iter().any(lower))
                || context.takers(&authored.block.selector, authored.said.key).is_empty()
        }) || shadows.iter().any(environment)
    };
    rules.retain(|rule, says| !told_elsewhere(rule, says));
    dead.retain(|rule, _| rules.contains_key(rule));
    dead.iter().filter_map(|(rule, shadows)| finding(context, rules.get(rule)?, shadows)).collect()
}

fn finding(context: &Context<'_>, says: &[Authored<'_>], shadows: &[Shadow]) -> Option<Diagnostic> {
    let block = says.first()?.block;
    let name =
        |shadow: &Shadow| context.resolved().rule(shadow.rule).map_or("default:base", |rule| &rule.name);
    let message = match shadows {
        [] => format!("`{}` changes nothing: no endpoint that it speaks of could be otherwise", block.name),
        [only] if only.beats => {
            format!("`{}` changes nothing: `{}` beats it and says the same", block.name, name(only))
        }
        [only] => format!("`{}` changes nothing: `{}` says the same", block.name, name(only)),
        [first, others @ ..] => {
            let mut names: Vec<&str> =
                others.iter().map(name).filter(|other| *other != name(first)).collect();
            names.dedup();
            match names.as_slice() {
                [] => format!("`{}` changes nothing: `{}` says the same", block.name, name(first)),
                [second] => {
                    format!("`{}` changes nothing: `{}` and `{second}` say the same", block.name, name(first))
                }
                more => format!(
                    "`{}` changes nothing: `{}` and {} other rules say the same",
                    block.name,
                    name(first),
                    more.len()
                ),
            }
        }
    };
    let finding = Diagnostic::new(Code::DeadRule, message)
        .help("remove the rule, or say why it stays: `# abx: allow dead-rule REASON`");
    let mut finding = place(finding, block.span, "changes nothing");
    for shadow in shadows.iter().take(3) {
        let written = shadow.statement.and_then(|at| context.merged.written(at));
        let written = written.and_then(|written| written.value_span.or(written.key_span));
        finding = beside(finding, written, format!("`{}` says this", name(shadow)));
    }
    // A rule of an anchored or merged mapping is not a line that can go.
    let plain = says.iter().all(|authored| authored.written.via.is_none());
    let fix = block.span.filter(|_| plain).and_then(|span| context.deletion("remove the rule", &[span]));
    let finding = match fix {
        Some(fix) => finding.suggest(fix),
        None => finding,
    };
    Some(context.affecting(finding, &block.selector, &context.governed(&block.selector)))
}
