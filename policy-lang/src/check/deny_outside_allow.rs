//! `deny-outside-allow`: a denied path that lies below nothing that is allowed, on any endpoint of its rule.
//!
//! What is rooted is judged by the fixed beginnings of both: where neither lies in the other, nothing is in both. What
//! meets so is left to [`overlap`], which knows exactly.

mod overlap;

use super::Context;
use super::context::Authored;
use crate::diag::{Code, Diagnostic};
use crate::endpoint::Key;
use crate::explain::absolute;
use crate::layer::Value;
use crate::paths::pattern::is_glob_character;
use crate::resolved::{EndpointIx, ResolvedValue, StatementIx};
use overlap::{Allowed, Looks};
use std::collections::BTreeSet;

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut looks = Looks::default();
    context
        .authored_key(Key::PathsDeny)
        .flat_map(|authored| findings(context, &authored, &mut looks))
        .collect()
}

fn findings(context: &Context<'_>, authored: &Authored<'_>, looks: &mut Looks) -> Vec<Diagnostic> {
    let Value::List(denied) = &authored.written.value else { return Vec::new() };
    let endpoints = context.takers(&authored.block.selector, Key::PathsDeny);
    let endpoints: Vec<EndpointIx> =
        endpoints.into_iter().filter(|endpoint| context.is_open(*endpoint)).collect();
    if endpoints.is_empty() {
        return Vec::new();
    }
    let lists: BTreeSet<Option<StatementIx>> = endpoints
        .iter()
        .map(|endpoint| context.candidates(*endpoint, Key::PathsAllow).first().copied())
        .collect();
    let Some(lists) = lists.into_iter().map(|list| entries(context, list)).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let begin = roots(context, &lists);
    let allowed: Vec<Allowed<'_>> =
        lists.into_iter().map(|list| Allowed::new(list, context.base_dir)).collect();
    let apart = |deny: &str| {
        let rooted = deny.contains('/') && !deny.starts_with("**");
        let root = root(deny, Key::PathsDeny, context.base_dir).filter(|_| rooted);
        begin.as_ref().zip(root).is_some_and(|(begin, root)| !meets(begin, &root))
    };
    let outside = denied
        .iter()
        .filter(|entry| apart(&entry.value) || looks.apart(&allowed, &entry.value, context.base_dir));
    outside
        .map(|entry| {
            let message = format!("`{}` is denied in vain: nothing that is allowed lies there", entry.value);
            let finding = Diagnostic::new(Code::DenyOutsideAllow, message)
                .help(
                    "remove the entry, or deny the directory that was meant; no allow-list reaches this one",
                )
                .at_saying(entry.span, "below nothing that is allowed")
                .via(authored.written.via);
            context.affecting(finding, &authored.block.selector, &endpoints)
        })
        .collect()
}

/// The entries of an allow-list; the base directory where there is none.
fn entries<'a>(context: &Context<'a>, list: Option<StatementIx>) -> Option<Vec<&'a str>> {
    match list.and_then(|at| context.resolved().statement(at)).map(|said| &said.value) {
        None => Some(vec![context.base_dir]),
        Some(ResolvedValue::List(elements)) => Some(elements.values().collect()),
        Some(_) => None,
    }
}

/// The fixed beginnings of every allowed entry; none where one of them has none.
fn roots(context: &Context<'_>, lists: &[Vec<&str>]) -> Option<BTreeSet<String>> {
    lists.iter().flatten().map(|entry| root(entry, Key::PathsAllow, context.base_dir)).collect()
}

/// The directory that an entry surely lies in or is; none where it may match anywhere. Denies ignore case, so both
/// sides are lowered: too wide a match only means that nothing is said.
fn root(entry: &str, key: Key, base_dir: &str) -> Option<String> {
    let absolute = absolute(key, entry, base_dir);
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
