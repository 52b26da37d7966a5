//! `deny-outside-allow`: a denied path that lies below nothing that is allowed, on any endpoint of its rule.
//!
//! Judged by the fixed beginnings of both: where neither lies in the other, nothing is in both. A name that is denied at
//! any depth is always below something.

use super::Context;
use super::context::Authored;
use crate::diag::{Code, Diagnostic};
use crate::endpoint::Key;
use crate::explain::absolute_form;
use crate::layer::Value;
use crate::paths::pattern::is_glob_character;
use crate::resolved::{EndpointIx, ResolvedValue, StatementIx};
use std::collections::BTreeSet;

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    context.authored_key(Key::PathsDeny).flat_map(|authored| findings(context, &authored)).collect()
}

fn findings(context: &Context<'_>, authored: &Authored<'_>) -> Vec<Diagnostic> {
    let Value::List(denied) = &authored.written.value else { return Vec::new() };
    // Most entries name something at any depth; only what is rooted needs a look at the allow-lists.
    let rooted: Vec<_> = denied
        .iter()
        .filter(|entry| entry.value.contains('/') && !entry.value.starts_with("**"))
        .filter_map(|entry| Some((entry, root(&entry.value, Key::PathsDeny, context.base_dir)?)))
        .collect();
    let endpoints = context.takers(&authored.block.selector, Key::PathsDeny);
    let endpoints: Vec<EndpointIx> =
        endpoints.into_iter().filter(|endpoint| context.is_open(*endpoint)).collect();
    if rooted.is_empty() || endpoints.is_empty() {
        return Vec::new();
    }
    let lists: BTreeSet<Option<StatementIx>> = endpoints
        .iter()
        .map(|endpoint| context.candidates(*endpoint, Key::PathsAllow).first().copied())
        .collect();
    let Some(allowed) = roots(context, &lists) else { return Vec::new() };
    let outside = rooted.into_iter().filter(|(_, deny)| !meets(&allowed, deny));
    outside
        .map(|(entry, _)| {
            let message = format!("`{}` is denied in vain: nothing that is allowed lies there", entry.value);
            let finding = Diagnostic::new(Code::DenyOutsideAllow, message)
                .help(
                    "remove the entry, or deny the directory that was meant; no allow-list reaches this one",
                )
                .at_saying(entry.span, "below nothing that is allowed");
            context.affecting(finding, &authored.block.selector, &endpoints)
        })
        .collect()
}

/// The fixed beginnings of every allowed entry; none where one of them has none.
fn roots(context: &Context<'_>, lists: &BTreeSet<Option<StatementIx>>) -> Option<BTreeSet<String>> {
    let mut roots = BTreeSet::new();
    for list in lists {
        match list.and_then(|at| context.resolved().statement(at)).map(|said| &said.value) {
            None => {
                roots.insert(context.base_dir.trim_end_matches('/').to_lowercase());
            }
            Some(ResolvedValue::List(elements)) => {
                for element in elements {
                    roots.insert(root(&element.value, Key::PathsAllow, context.base_dir)?);
                }
            }
            Some(_) => return None,
        }
    }
    Some(roots)
}

/// The directory that an entry surely lies in or is; none where it may match anywhere. Denies ignore case, so both
/// sides are lowered: too wide a match only means that nothing is said.
fn root(entry: &str, key: Key, base_dir: &str) -> Option<String> {
    let absolute = absolute_form(key, entry, base_dir).unwrap_or_else(|| entry.to_owned());
    if !absolute.starts_with('/') {
        return None;
    }
    let fixed = match absolute.bytes().position(is_glob_character) {
        None => &*absolute,
        Some(glob) => absolute.get(..glob)?.rsplit_once('/')?.0,
    };
    (!fixed.is_empty()).then(|| fixed.trim_end_matches('/').to_lowercase())
}

/// Whether a directory lies in one of the others, or one of them in it.
fn meets(allowed: &BTreeSet<String>, deny: &str) -> bool {
    let mut above = Some(deny);
    while let Some(dir) = above {
        if allowed.contains(dir) {
            return true;
        }
        above = dir.rsplit_once('/').map(|(dir, _)| dir).filter(|dir| !dir.is_empty());
    }
    let below = format!("{deny}/");
    allowed.range(below.clone()..).next().is_some_and(|first| first.starts_with(&below))
}
