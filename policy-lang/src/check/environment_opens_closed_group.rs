//! `environment-opens-closed-group`: the document (or the code) closes a group and the environment opens it again.

use super::Context;
use super::context::{beside, place};
use crate::diag::{Code, Diagnostic};
use crate::endpoint::Key;
use crate::layer::{LayerKind, Selector};
use crate::layers::environment::VARIABLE;
use crate::merge::index::closes;
use crate::resolved::{EndpointIx, StatementIx};
use std::collections::BTreeMap;

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    // By the pair of what closes and what opens: one finding each, however many endpoints.
    let mut pairs: BTreeMap<(StatementIx, StatementIx), Vec<EndpointIx>> = BTreeMap::new();
    for endpoint in context.catalogue.iter() {
        let [winner, beaten @ ..] = context.candidates(endpoint, Key::Enabled) else { continue };
        if context.rule(*winner).is_none_or(|rule| rule.layer != LayerKind::Environment) {
            continue;
        }
        let close = beaten.iter().find(|at| {
            let authored = context
                .rule(**at)
                .is_some_and(|rule| matches!(rule.layer, LayerKind::Policy | LayerKind::Code));
            authored && context.resolved().statement(**at).is_some_and(closes)
        });
        if let Some(close) = close {
            pairs.entry((*close, *winner)).or_default().push(endpoint);
        }
    }
    pairs.into_iter().filter_map(|((close, open), affects)| finding(context, close, open, &affects)).collect()
}

fn finding(
    context: &Context<'_>,
    close: StatementIx,
    open: StatementIx,
    affects: &[EndpointIx],
) -> Option<Diagnostic> {
    let Selector::Group(group) = &context.merged.block(context.resolved().statement(open)?.rule)?.selector
    else {
        return None;
    };
    let (group, closer) = (group.as_str(), context.rule_name(close));
    let message = format!("`{VARIABLE}` opens `{group}`, which `{closer}` closes");
    let finding = Diagnostic::new(Code::EnvironmentOpensClosedGroup, message)
        .help(format!("the environment is the later layer: to close `{group}` for good, close its exact ids or a glob over them, or take it out of `{VARIABLE}`"));
    let span = |at| context.merged.written(at).and_then(|written| written.value_span.or(written.key_span));
    let finding = place(finding, span(close).or_else(|| span(open)), "does not hold");
    let finding = finding.via(context.merged.written(close).and_then(|written| written.via));
    let finding = if span(close).is_some() { beside(finding, span(open), "opened here") } else { finding };
    Some(finding.affects(context.ids(affects)))
}
