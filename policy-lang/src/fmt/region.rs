//! Which bytes of a file are ours to format.

use crate::fix::delete::deepest_end;
use crate::lower::words::DOCUMENT;
use crate::parse::Node;
use std::ops::Range;

/// The keys of a template that are ours.
const OURS: [&str; 2] = ["server", crate::testing::IN_TEMPLATE];

/// Whole lines: those of our keys in a template, every line of a policy or a suite, none of what is neither.
pub(super) fn of(text: &str, root: &Node<'_>) -> Vec<Range<usize>> {
    let entries = root.entries().unwrap_or_default();
    let ours: Vec<Range<usize>> = entries
        .iter()
        .filter(|entry| OURS.contains(&&*entry.key))
        .map(|entry| {
            let end = deepest_end(&entry.value).max(entry.key_span.end) as usize;
            line_start(text, entry.key_span.start as usize)..line_end(text, end)
        })
        .collect();
    let own = |key: &str| OURS.contains(&key) || key == "tests" || DOCUMENT.contains(&key);
    let alone = match ours.is_empty() {
        true => entries.iter().any(|entry| own(&entry.key)),
        false => entries.iter().all(|entry| own(&entry.key)),
    };
    if alone { std::iter::once(0..text.len()).collect() } else { ours }
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    // A value that ends with its line break has ended its line.
    if text.get(..at).is_some_and(|before| before.ends_with('\n')) {
        return at;
    }
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| at + end + 1)
}
