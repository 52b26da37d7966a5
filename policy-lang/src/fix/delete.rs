//! Taking an entry of a mapping, or an element of a list, out of a text without a trace, and leaving the rest as it is.
//!
//! What would be left empty goes with it, up to the policy itself. Where a comment would go too, or would stand over
//! something else afterwards, the deletion says so: words of a person are for a person to remove.

use crate::parse::{Entry, Node, NodeKind};
use crate::source::Span;

/// A deletion: the bytes that go and what stands in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletion {
    /// The bytes.
    pub span: Span,
    /// What stands there instead: nothing, or `{}` where an empty policy is left.
    pub replacement: String,
    /// Whether a comment stands in it, behind it or right above it.
    pub commented: bool,
}

/// Takes out the entry whose key, or the element that, begins at a byte. None where it stands so that the rest cannot be
/// left alone: behind an alias, or as the first key of a list's element.
#[must_use]
pub fn at(text: &str, root: &Node<'_>, byte: u32) -> Option<Deletion> {
    let mut path = Vec::new();
    find(root, byte, &mut path).then_some(())?;
    let mut steps = path.into_iter().rev();
    let mut step = steps.next()?;
    // What is left empty goes too; the policy itself stays, as `{}`.
    while alone(step.parent) {
        let Some(above) = steps.next() else { return Some(emptied(text, step.parent, step.span)) };
        if above.key == Some("server") {
            return Some(emptied(text, step.parent, step.span));
        }
        step = above;
    }
    take_out(text, &step)
}

/// The first byte of the innermost entry of a mapping that holds a byte; none where none does.
#[must_use]
pub fn innermost(root: &Node<'_>, byte: u32) -> Option<u32> {
    let mut found = None;
    let mut node = root;
    loop {
        match &node.kind {
            NodeKind::Map(entries) => {
                let holds = |entry: &&Entry<'_>| {
                    own(node, entry)
                        && entry.key_span.start <= byte
                        && byte < end_of(entry).max(entry.key_span.start + 1)
                };
                let Some(entry) = entries.iter().find(holds) else { return found };
                found = Some(entry.key_span.start);
                if entry.value.via.is_some() {
                    return found;
                }
                node = &entry.value;
            }
            NodeKind::Seq(items) => {
                let holds = |item: &&Node<'_>| item.span.start <= byte && byte < deepest_end(item);
                let Some(item) = items.iter().find(holds).filter(|item| item.via.is_none()) else {
                    return found;
                };
                node = item;
            }
            _ => return found,
        }
    }
}

/// One step from the root to what is deleted.
struct Step<'n, 's> {
    parent: &'n Node<'s>,
    key: Option<&'n str>,
    /// Its place among what the parent holds.
    at: usize,
    /// From its first byte to its last.
    span: Span,
}

fn find<'n, 's>(node: &'n Node<'s>, byte: u32, path: &mut Vec<Step<'n, 's>>) -> bool {
    match &node.kind {
        NodeKind::Map(entries) => {
            for (at, entry) in entries.iter().enumerate().filter(|(_, entry)| own(node, entry)) {
                let span = Span { end: end_of(entry), ..entry.key_span };
                path.push(Step { parent: node, key: Some(&entry.key), at, span });
                let inside =
                    entry.value.via.is_none() && span.start <= byte && byte < span.end.max(span.start + 1);
                if entry.key_span.start == byte || (inside && find(&entry.value, byte, path)) {
                    return true;
                }
                path.pop();
            }
            false
        }
        NodeKind::Seq(items) => {
            for (at, item) in items.iter().enumerate().filter(|(_, item)| item.via.is_none()) {
                let span = Span { end: deepest_end(item), ..item.span };
                path.push(Step { parent: node, key: None, at, span });
                let scalar = !matches!(item.kind, NodeKind::Map(_));
                if (scalar && item.span.start == byte) || find(item, byte, path) {
                    return true;
                }
                path.pop();
            }
            false
        }
        _ => false,
    }
}

/// Whether an entry was written in this mapping, and did not come by a merge key.
fn own(map: &Node<'_>, entry: &Entry<'_>) -> bool {
    entry.key_span.start >= map.span.start && entry.key_span.end <= map.span.end
}

/// Whether nothing would be left in a collection without one of what it holds.
fn alone(node: &Node<'_>) -> bool {
    match &node.kind {
        // An empty list says something: it allows nothing.
        NodeKind::Map(entries) => entries.len() == 1,
        _ => false,
    }
}

fn emptied(text: &str, map: &Node<'_>, inner: Span) -> Deletion {
    let span = Span { start: map.span.start.min(inner.start), end: map.span.end.max(inner.end), ..inner };
    let block = !slice(text, span.start, span.end).starts_with('{');
    // The empty mapping goes up beside its key: `server: {}`.
    let before = text.get(..span.start as usize).unwrap_or_default();
    let colon = u32::try_from(before.trim_end().len()).unwrap_or(span.start);
    if block && before.trim_end().ends_with(':') {
        let commented = slice(text, colon, span.end).contains('#') || trailing_comment(text, span.end);
        return Deletion { span: Span { start: colon, ..span }, replacement: " {}".to_owned(), commented };
    }
    let commented = slice(text, span.start, span.end).contains('#') || trailing_comment(text, span.end);
    Deletion { span, replacement: "{}".to_owned(), commented }
}

fn take_out(text: &str, step: &Step<'_, '_>) -> Option<Deletion> {
    let nothing = |span: Span| {
        Some(Deletion {
            span,
            replacement: String::new(),
            commented: slice(text, span.start, span.end).contains('#'),
        })
    };
    let flow = slice(text, step.parent.span.start, step.parent.span.end).starts_with(['{', '[']);
    if flow {
        let bounds = |at: usize| match &step.parent.kind {
            NodeKind::Map(entries) => entries.get(at).map(|entry| (entry.key_span.start, end_of(entry))),
            NodeKind::Seq(items) => items.get(at).map(|item| (item.span.start, deepest_end(item))),
            _ => None,
        };
        return match (bounds(step.at + 1), step.at.checked_sub(1).and_then(bounds)) {
            (Some((next, _)), _) => nothing(Span { end: next, ..step.span }),
            (None, Some((_, before))) => nothing(Span { start: before, ..step.span }),
            (None, None) => nothing(step.span),
        };
    }
    lines(text, step)
}

/// Whole lines, from the one on which the entry begins to the one on which it ends.
fn lines(text: &str, step: &Step<'_, '_>) -> Option<Deletion> {
    let from = step.span.start as usize;
    let start = text.get(..from)?.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let lead = text.get(start..from)?;
    let item = matches!(step.parent.kind, NodeKind::Seq(_));
    let alone_on_its_line =
        if item { lead.trim() == "-" } else { lead.trim_start_matches('\u{feff}').trim().is_empty() };
    if !alone_on_its_line {
        return None;
    }
    let end = step.span.end as usize;
    let rest = text.get(end..)?;
    let line_end = rest.find('\n').map_or(text.len(), |at| end + at + 1);
    let behind = text.get(end..line_end)?.trim();
    if !(behind.is_empty() || behind.starts_with('#')) {
        return None;
    }
    let inside = text.get(from..end)?.lines().any(|line| line.contains('#'));
    let above = text.get(..start)?.lines().next_back().is_some_and(|line| line.trim_start().starts_with('#'));
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Some(Deletion {
        span: Span { start: offset(start), end: offset(line_end), ..step.span },
        replacement: String::new(),
        commented: inside || above || behind.starts_with('#'),
    })
}

fn trailing_comment(text: &str, end: u32) -> bool {
    let rest = text.get(end as usize..).unwrap_or_default();
    rest.lines().next().is_some_and(|line| line.trim_start().starts_with('#'))
}

fn end_of(entry: &Entry<'_>) -> u32 {
    deepest_end(&entry.value).max(entry.key_span.end)
}

/// One past the last byte of a value where it was written; what came by an alias ends with the alias.
pub(crate) fn deepest_end(node: &Node<'_>) -> u32 {
    if let Some(alias) = node.via {
        return alias.end;
    }
    let inner = match &node.kind {
        NodeKind::Map(entries) => entries.iter().filter(|entry| own(node, entry)).map(end_of).max(),
        NodeKind::Seq(items) => items.iter().map(deepest_end).max(),
        _ => None,
    };
    inner.unwrap_or(0).max(node.span.end)
}

fn slice(text: &str, start: u32, end: u32) -> &str {
    text.get(start as usize..end as usize).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{self, Format};
    use crate::source::SourceMap;

    /// The text without what begins at `word`, and whether a comment is concerned.
    fn without(text: &str, word: &str) -> Option<(String, bool)> {
        let mut sources = SourceMap::new();
        let id = sources.add("t.yaml", text);
        let root = parse::parse(&sources, id, Format::Auto).0?;
        let byte = u32::try_from(text.find(word)?).ok()?;
        let deletion = at(sources.text(id), &root, byte)?;
        let mut after = text.to_owned();
        after.replace_range(deletion.span.range(), &deletion.replacement);
        Some((after, deletion.commented))
    }

    #[test]
    fn entries_go_and_the_rest_stays() {
        for (before, word, after, commented) in [
            ("a: 1\nb: 2\nc: 3\n", "b", "a: 1\nc: 3\n", false),
            ("x:\r\n  a: 1\r\n  b: 2\r\n", "b", "x:\r\n  a: 1\r\n", false),
            ("x:\n  a:\n    q: 1\n  b: 2\n", "q", "x:\n  b: 2\n", false),
            ("x: {a: 1, b: 2}\n", "a", "x: {b: 2}\n", false),
            ("x: {a: 1, b: 2}\n", "b", "x: {a: 1}\n", false),
            ("x: [a, b]\n", "b", "x: [a]\n", false),
            ("x: [a]\n", "a", "x: []\n", false),
            ("x:\n  - a\n  - b\n", "a", "x:\n  - b\n", false),
            ("name: t\nserver:\n  endpoints:\n    shell: true\n", "shell", "name: t\nserver: {}\n", false),
            ("endpoints: {shell: true}\n", "shell", "{}\n", false),
            ("{\"a\": {\"b\": 1}, \"c\": 2}", "\"b\"", "{\"c\": 2}", false),
            ("a: 1\n# why\nb: 2\nc: 3\n", "b", "a: 1\n# why\nc: 3\n", true),
            ("a: 1\nb: 2 # why\n", "b", "a: 1\n", true),
            ("a: 1\nb: 2", "b", "a: 1\n", false),
        ] {
            assert_eq!(
                without(before, word),
                Some((after.to_owned(), commented)),
                "{before:?} without {word}"
            );
        }
        assert_eq!(without("l:\n  - id: a\n    b: 2\n", "id"), None);
    }
}
