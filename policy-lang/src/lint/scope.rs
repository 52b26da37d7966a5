//! Which bytes a comment speaks of.
//!
//! Behind something: that line. On a line of its own: the entry that begins on the next line, with all that stands in it.
//! At the top of the file with a blank line behind it: the file.

use crate::source::Span;
use std::ops::Range;

/// The bytes that a comment at `span` speaks of.
pub(super) fn of(text: &str, span: Span) -> Range<usize> {
    let at = span.start as usize;
    let line_start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let lead = text.get(line_start..at).unwrap_or_default().trim_start_matches('\u{feff}');
    let line_end = end_of_line(text, at);
    if !lead.trim().is_empty() {
        return line_start..line_end;
    }
    if heads_the_file(text, line_start, line_end) {
        return 0..text.len();
    }
    entry(text, line_end)
}

/// Whether nothing but comments stands before, and a blank line comes before anything else.
fn heads_the_file(text: &str, line_start: usize, line_end: usize) -> bool {
    let comment = |line: &str| line.trim_start_matches('\u{feff}').trim_start().starts_with('#');
    let before = text.get(..line_start).unwrap_or_default();
    let top =
        before.lines().all(|line| comment(line) || line.trim_start_matches('\u{feff}').trim().is_empty());
    let behind = text.get(line_end..).unwrap_or_default();
    top && behind.lines().find(|line| !comment(line)).is_some_and(|line| line.trim().is_empty())
}

/// The entry that begins on the first line of content at or after a byte: that line and all that are indented deeper.
fn entry(text: &str, from: usize) -> Range<usize> {
    let mut at = from;
    let mut first: Option<(usize, &str)> = None;
    let mut end = from;
    for line in text.get(from..).unwrap_or_default().split_inclusive('\n') {
        let next = at + line.len();
        let written = line.trim();
        if !(written.is_empty() || written.starts_with('#')) {
            match first {
                None => first = Some((at, line)),
                Some((_, head)) if !belongs(head, line) => break,
                Some(_) => {}
            }
            end = next;
        }
        at = next;
    }
    first.map_or(from..from, |(start, _)| start..end)
}

/// Whether a line belongs to the entry whose first line is `head`. A list may stand at the indentation of its key, and a
/// flow collection may end there.
fn belongs(head: &str, line: &str) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let item = |line: &str| line.trim_start().starts_with('-');
    let closes = line.trim_start().starts_with(['}', ']']);
    indent(line) > indent(head) || (indent(line) == indent(head) && (closes || (item(line) && !item(head))))
}

fn end_of_line(text: &str, from: usize) -> usize {
    text.get(from..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| from + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    fn spoken_of(text: &str) -> &str {
        let start = u32::try_from(text.find("#!").unwrap()).unwrap();
        text.get(of(text, Span { source: SourceId(0), start, end: start + 2 })).unwrap()
    }

    #[test]
    fn a_comment_speaks_of_its_line_its_entry_or_the_file() {
        assert_eq!(spoken_of("a: 1\nb: #! x\n  c: 2\n"), "b: #! x\n");
        assert_eq!(spoken_of("a: 1\n#! x\n# and\n\nb:\n  c: 2\n\n  d: 3\ne: 4\n"), "b:\n  c: 2\n\n  d: 3\n");
        assert_eq!(spoken_of("x:\n  #! x\n  b: 2\n  c: 3\n"), "  b: 2\n");
        assert_eq!(spoken_of("#! x\nt:\n- a\n- b\nu: 1\n"), "t:\n- a\n- b\n");
        assert_eq!(spoken_of("t:\n  #! x\n  - a: 1\n    b: 2\n  - c\n"), "  - a: 1\n    b: 2\n");
        assert_eq!(spoken_of("# about\n#! x\n\na: 1\nb: 2\n"), "# about\n#! x\n\na: 1\nb: 2\n");
        assert_eq!(spoken_of("a: 1\n#! x\n"), "");
    }
}
