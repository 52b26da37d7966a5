//! A block that was not indented: an empty key, and right after it what belongs in it.
//!
//! That is one mistake, so it is one finding, and the entries are read on as if they stood where they belong.

use crate::diag::{Code, Diagnostic, Label, Suggestion, quoted};
use crate::lower::Context;
use crate::parse::{Entry, Node, NodeKind};
use crate::source::Span;

/// Puts the entries that follow an empty key into it, where `holds(empty, following)` says that they belong there.
pub(crate) fn mend<'s>(
    cx: &mut Context<'_>,
    entries: Vec<Entry<'s>>,
    holds: impl Fn(&str, &str) -> bool,
) -> Vec<Entry<'s>> {
    if !entries.iter().any(is_empty) {
        return entries;
    }
    let mut mended = Vec::with_capacity(entries.len());
    let mut rest = entries.into_iter().peekable();
    while let Some(mut entry) = rest.next() {
        let mut inner = Vec::new();
        if is_empty(&entry) {
            while let Some(next) = rest.next_if(|next| holds(&entry.key, &next.key) && beside(&entry, next)) {
                inner.push(next);
            }
        }
        if let Some(whole) = span(&inner) {
            report(cx, &entry, &inner, whole);
            entry.value = Node { kind: NodeKind::Map(inner), span: whole, via: None };
        }
        mended.push(entry);
    }
    mended
}

/// Whether nothing was written after the key. JSON has no such thing.
fn is_empty(entry: &Entry<'_>) -> bool {
    matches!(entry.value.kind, NodeKind::Null { written: false })
}

/// Whether both were written in one place: neither came by a merge key.
fn beside(entry: &Entry<'_>, next: &Entry<'_>) -> bool {
    entry.key_span.source == next.key_span.source
        && entry.key_span.end <= next.key_span.start
        && next.value.via.is_none()
}

/// From the first key to the end of the last value.
fn span(entries: &[Entry<'_>]) -> Option<Span> {
    let first = entries.first()?.key_span;
    let ends = entries.iter().map(|entry| entry.key_span.end.max(entry.value.span.end));
    Some(Span { end: ends.max()?, ..first })
}

fn report(cx: &mut Context<'_>, entry: &Entry<'_>, inner: &[Entry<'_>], whole: Span) {
    let Some(first) = inner.first() else { return };
    let (key, parent) = (quoted(&first.key), quoted(&entry.key));
    let message = format!("{key} stands beside {parent}, not in it");
    let mut finding = Diagnostic::new(Code::MisplacedKey, message).at_saying(first.key_span, "not indented");
    finding.related.push(Label { span: entry.key_span, message: "nothing stands in it".to_owned() });
    let what = match inner.len() {
        1 => "it".to_owned(),
        count => format!(
            "it and the next {}",
            if count == 2 { "key".to_owned() } else { format!("{} keys", count - 1) }
        ),
    };
    let finding = finding.help(format!("indent {what} by two more spaces"));
    cx.emit(match indented(cx, entry, whole) {
        Some(text) => finding.suggest(Suggestion::review(format!("indent {what}"), whole, text)),
        None => finding,
    });
}

/// The entries with two more spaces before each line; none where they share a line with the empty key.
fn indented(cx: &Context<'_>, entry: &Entry<'_>, whole: Span) -> Option<String> {
    let between = cx.slice(Span { start: entry.key_span.end, end: whole.start, ..whole });
    between.contains('\n').then_some(())?;
    let mut text = String::new();
    for (at, line) in cx.slice(whole).split_inclusive('\n').enumerate() {
        if at == 0 || !line.trim().is_empty() {
            text.push_str("  ");
        }
        text.push_str(line);
    }
    Some(text)
}
