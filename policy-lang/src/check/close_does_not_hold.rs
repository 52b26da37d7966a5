//! `close-does-not-hold`: a `false` of the document that a more specific `true` of a lower layer beats.

use super::Context;
use super::context::beside;
use crate::diag::{Code, Diagnostic};
use crate::endpoint::Key;
use crate::layer::LayerKind;
use crate::merge::index::closes;
use crate::resolved::{EndpointIx, StatementIx};

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for authored in context.authored_key(Key::Enabled).filter(|authored| closes(authored.said)) {
        let winner = |endpoint: EndpointIx| {
            let winner = *context.candidates(endpoint, Key::Enabled).first()?;
            let lower = context.rule(winner)?.layer < LayerKind::Policy;
            (lower && context.is_open(endpoint)).then_some((endpoint, winner))
        };
        let open: Vec<(EndpointIx, StatementIx)> =
            context.governed(&authored.block.selector).into_iter().filter_map(winner).collect();
        let Some((_, by)) = open.first().copied() else { continue };
        let endpoints: Vec<EndpointIx> = open.iter().map(|(endpoint, _)| *endpoint).collect();
        let verb = if endpoints.len() == 1 { "stays" } else { "stay" };
        let rule = context.rule_name(by);
        let message = format!(
            "{} {verb} open: `{rule}` is more specific than `{}`",
            context.names(&endpoints),
            authored.block.selector
        );
        let finding = Diagnostic::new(Code::CloseDoesNotHold, message)
            .help("close by the exact id, which nothing in a lower layer beats");
        let written = context.merged.written(by).and_then(|written| written.value_span);
        let finding = beside(
            authored.mark(finding, authored.span(), "does not hold everywhere"),
            written,
            format!("opened here by `{rule}`"),
        );
        found.push(finding.affects(context.ids(&endpoints)));
    }
    found
}
