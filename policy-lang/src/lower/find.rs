//! Where the document stands within its file: under `server:` in a template, or alone.
//!
//! The other top-level keys of a template are not ours. A file without `server:` is a document by itself when a top-level
//! key is (nearly) one of a document, when every key is a word of the language, or when it is written in flow style, as
//! JSON is; otherwise it is a template that says nothing about the server.

use crate::diag::{Code, Diagnostic, Severity, Suggestion, quoted, suggest};
use crate::lower::words::{self, Level};
use crate::lower::{Context, indent};
use crate::parse::{Entry, Node, NodeKind};

/// The entries of the document; none where there is no document to read.
pub(crate) fn document<'s>(cx: &mut Context<'_>, root: Node<'s>) -> Option<Vec<Entry<'s>>> {
    let entries = mapping(cx, "a policy file", root)?;
    let mut entries =
        indent::mend(cx, entries, |parent, key| parent == words::WRAPPER && words::DOCUMENT.contains(&key));
    let wrapped = entries.iter().position(|entry| entry.key == words::WRAPPER);
    let near: Vec<usize> =
        (0..entries.len()).filter(|&at| is_near(&entries, at, wrapped.is_some())).collect();
    for entry in near.iter().filter_map(|&at| entries.get(at)) {
        misspelt(cx, entry);
    }
    if let Some(position) = wrapped.or(near.first().copied()) {
        if wrapped.is_some() {
            beside(cx, &entries);
        }
        let entry = entries.swap_remove(position);
        let via = entry.value.via;
        // What is misspelt has been told, whatever stands there.
        if wrapped.is_none() && !matches!(entry.value.kind, NodeKind::Map(_)) {
            return None;
        }
        return cx.value_of(entry.key_span, via, |cx| mapping(cx, "`server`", entry.value));
    }
    if is_bare(entries.iter().map(|entry| &*entry.key)) || cx.is_flow_document() {
        return Some(entries);
    }
    if let Some(first) = entries.first() {
        let message = "this file has no `server` key, so it sets no policy";
        let help = "put the policy under `server:`, or write a policy document alone in a file";
        let finding = Diagnostic::new(Code::RuleHasNoEffect, message).at(first.key_span).help(help);
        cx.emit(Diagnostic { severity: Severity::Info, ..finding });
    }
    None
}

/// Remarks on keys of a policy that stand beside `server`: they may be the template's own.
fn beside(cx: &mut Context<'_>, entries: &[Entry<'_>]) {
    for entry in entries.iter().filter(|entry| words::DOCUMENT.contains(&&*entry.key)) {
        let message =
            format!("`{}` beside `server` is the template's own, and no part of the policy", entry.key);
        let finding = Diagnostic::new(Code::RuleHasNoEffect, message).at(entry.key_span);
        let finding = finding.help("move it under `server` if it is meant to be one");
        cx.emit(Diagnostic { severity: Severity::Info, ..finding });
    }
}

/// The entries of a mapping, or a finding.
fn mapping<'s>(cx: &mut Context<'_>, what: &str, node: Node<'s>) -> Option<Vec<Entry<'s>>> {
    if let NodeKind::Map(entries) = node.kind {
        return Some(entries);
    }
    if matches!(node.kind, NodeKind::Invalid) {
        return None;
    }
    let report = cx.wrong_type(what, "a mapping", &node);
    let told = report.help.is_some();
    cx.emit(if told { report } else { report.help("an empty policy is written `{}`") });
    None
}

/// Whether a top-level key is a misspelt `server`. Beside a real one only another spelling of the same word counts:
/// the rest may be keys of the template.
fn is_near(entries: &[Entry<'_>], at: usize, wrapped: bool) -> bool {
    let Some(entry) = entries.get(at).filter(|entry| entry.key != words::WRAPPER) else { return false };
    let plain = plain(&entry.key);
    let same_word = plain == words::WRAPPER || plain.strip_suffix('s') == Some(words::WRAPPER);
    let policy_below = || match &entry.value.kind {
        NodeKind::Map(inner) => inner.iter().any(|entry| words::DOCUMENT.contains(&&*entry.key)),
        _ => false,
    };
    same_word || (!wrapped && is_nearly_wrapper(&entry.key) && policy_below())
}

/// Whether a key may be a misspelt `server`, by its letters.
pub(crate) fn is_nearly_wrapper(key: &str) -> bool {
    let plain = plain(key);
    plain.strip_suffix('s') == Some(words::WRAPPER) || strsim::osa_distance(&plain, words::WRAPPER) <= 1
}

fn plain(key: &str) -> String {
    key.trim_matches(['-', '_', ' ']).to_lowercase()
}

fn misspelt(cx: &mut Context<'_>, entry: &Entry<'_>) {
    let message = format!("{} is not read: a template's policy stands under `server`", quoted(&entry.key));
    let fix = cx.quoted_like(entry.key_span, words::WRAPPER);
    cx.emit(
        Diagnostic::new(Code::UnknownKey, message)
            .at(entry.key_span)
            .help("did you mean `server`? as written, every rule that stands under it is lost")
            .suggest(Suggestion::review("write `server`", entry.key_span, fix)),
    );
}

/// Whether a block-style file with these keys at its top is a document by itself.
pub(crate) fn is_bare<'k>(mut keys: impl Iterator<Item = &'k str> + Clone) -> bool {
    let nearly = |key: &str| !suggest::closest(key, words::DOCUMENT.iter().copied()).is_empty();
    let of_the_language = |key: &str| words::misplaced(key, Level::Document).is_some();
    keys.clone().any(|key| words::DOCUMENT.contains(&key))
        || keys.all(|key| nearly(key) || of_the_language(key))
}
