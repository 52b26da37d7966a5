//! `key-has-no-effect`: a key under a selector none of whose endpoints takes it.

use super::Context;
use super::context::{Authored, place};
use crate::diag::{Code, Diagnostic};
use crate::layer::Selector;
use std::collections::HashSet;

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut told = HashSet::new();
    let useless = context
        .authored()
        .filter(|authored| context.takers(&authored.block.selector, authored.said.key).is_empty());
    useless
        // An endpoint takes all keys of `paths` or none: writing several of them is one mistake.
        .filter(|authored| told.insert((authored.said.rule, family(authored))))
        .map(|authored| finding(context, &authored))
        .collect()
}

/// `paths` as a whole, and every other key by itself.
fn family(authored: &Authored<'_>) -> &'static str {
    let name = authored.said.key.as_str();
    if name.starts_with("paths.") { "paths" } else { name }
}

fn finding(context: &Context<'_>, authored: &Authored<'_>) -> Diagnostic {
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
    let finding = Diagnostic::new(Code::KeyHasNoEffect, message)
        .help(format!("remove it; `{key}` is taken by {takers}"));
    context.affecting(place(finding, authored.key_span(), "has no effect here"), selector, &governed)
}
