//! `preset-weakened`: the document opens or widens what its preset closed. Worth knowing, and often meant.

use super::Context;
use super::context::beside;
use crate::diag::{Code, Diagnostic};
use crate::endpoint::{KEYS, Key, MergeLaw};
use crate::layer::LayerKind;
use crate::resolved::{EndpointIx, ResolvedValue, StatementIx};

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for authored in context.authored() {
        let key = authored.said.key;
        if KEYS.get(key.index()).is_none_or(|decl| decl.law != MergeLaw::Replace) {
            continue;
        }
        let beaten = |endpoint: EndpointIx| {
            let candidates = context.candidates(endpoint, key);
            let won = candidates.first() == Some(&authored.at);
            let of_preset =
                |at: &&StatementIx| context.rule(**at).is_some_and(|rule| rule.layer == LayerKind::Preset);
            let preset = *candidates.iter().find(of_preset)?;
            let was = &context.resolved().statement(preset)?.value;
            (won && widens(key, was, &authored.said.value)).then_some((endpoint, preset))
        };
        let widened: Vec<(EndpointIx, StatementIx)> =
            context.takers(&authored.block.selector, key).into_iter().filter_map(beaten).collect();
        let Some((_, preset)) = widened.first().copied() else { continue };
        let endpoints: Vec<EndpointIx> = widened.into_iter().map(|(endpoint, _)| endpoint).collect();
        let (rule, block, names) =
            (context.rule_name(preset), &authored.block.name, context.names(&endpoints));
        let (message, label) = match key {
            Key::Enabled => (format!("`{block}` opens {names}, which `{rule}` closes"), "opens it"),
            key => (
                format!("`{block}` sets `{}` of {names} wider than `{rule}` does", key.as_str()),
                "widens it",
            ),
        };
        let written =
            context.merged.written(preset).and_then(|written| written.value_span.or(written.key_span));
        let finding = authored.mark(Diagnostic::new(Code::PresetWeakened, message), authored.span(), label);
        let finding = beside(finding, written, format!("`{rule}` says this"));
        found.push(context.affecting(finding, &authored.block.selector, &endpoints));
    }
    found
}

/// Whether a value lets through more than another of the same key.
fn widens(key: Key, was: &ResolvedValue, is: &ResolvedValue) -> bool {
    match (was, is) {
        (ResolvedValue::Number(was), ResolvedValue::Number(is)) => is > was,
        (ResolvedValue::Bool(was), ResolvedValue::Bool(is)) => match key {
            Key::ParamsBlockPrivateNetworks => *was && !is,
            _ => !was && *is,
        },
        // `read_only: true` over everything, and now a list.
        (ResolvedValue::Bool(true), ResolvedValue::List(_)) => key == Key::PathsReadOnly,
        (ResolvedValue::Word(was), ResolvedValue::Word(is)) => {
            let rank = |word: &str| ["deny", "within"].iter().position(|known| *known == word);
            key == Key::PathsSymlinks && rank(is) > rank(was)
        }
        _ => false,
    }
}
