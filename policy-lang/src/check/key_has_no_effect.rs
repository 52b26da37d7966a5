//! `key-has-no-effect`: a key under a selector none of whose endpoints takes it.

use super::Context;
use super::context::Authored;
use crate::diag::{Code, Diagnostic};
use crate::layer::Selector;
use crate::source::Span;
use std::collections::{HashMap, HashSet};

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut told = HashSet::new();
    let shared = shared(context);
    let useless = context
        .authored()
        .filter(|authored| context.takers(&authored.block.selector, authored.said.key).is_empty());
    useless
        // An endpoint takes all keys of `paths` or none: writing several of them is one mistake.
        .filter(|authored| told.insert((authored.said.rule, family(authored))))
        .map(|authored| finding(context, &authored, &shared))
        .collect()
}

/// The rules that say each key, where an alias or a merge key makes several say the same words.
fn shared<'a>(context: &Context<'a>) -> HashMap<Span, Vec<Authored<'a>>> {
    let mut by_place: HashMap<Span, Vec<Authored<'a>>> = HashMap::new();
    if context.authored().any(|authored| authored.written.via.is_some()) {
        for authored in context.authored() {
            if let Some(span) = authored.written.key_span {
                by_place.entry(span).or_default().push(authored);
            }
        }
    }
    by_place
}

/// `paths` as a whole, and every other key by itself.
fn family(authored: &Authored<'_>) -> &'static str {
    let name = authored.said.key.as_str();
    if name.starts_with("paths.") { "paths" } else { name }
}

fn finding(
    context: &Context<'_>,
    authored: &Authored<'_>,
    shared: &HashMap<Span, Vec<Authored<'_>>>,
) -> Diagnostic {
    let (key, selector) = (family(authored), &authored.block.selector);
    let governed = context.governed(selector);
    let message = match selector {
        Selector::Exact(_) | Selector::Custom(_) => format!("`{selector}` takes no `{key}`"),
        _ if governed.is_empty() => {
            format!("`{selector}` governs no endpoint: core endpoints are passed over by a wide selector")
        }
        _ => format!("none of the {} endpoints that `{selector}` covers takes `{key}`", governed.len()),
    };
    let takers = context
        .catalogue
        .iter()
        .filter(|endpoint| context.catalogue.accepts(*endpoint).contains(authored.said.key));
    let takers = context.names(&takers.collect::<Vec<_>>());
    let uses = authored.written.key_span.and_then(|span| shared.get(&span));
    // Where none of them takes it, it can go.
    let takes = |other: &&Authored<'_>| !context.takers(&other.block.selector, other.said.key).is_empty();
    let other = uses.into_iter().flatten().find(takes);
    let finding = Diagnostic::new(Code::KeyHasNoEffect, message).help(match other {
        None => format!("remove it; `{key}` is taken by {takers}"),
        Some(other) => format!(
            "`{}` says it too, and takes it: keep it there, and give `{}` a mapping of its own",
            other.block.name, authored.block.name
        ),
    });
    context.affecting(authored.mark(finding, authored.key_span(), "has no effect here"), selector, &governed)
}
