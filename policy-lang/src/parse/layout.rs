//! How a YAML text is laid out: where its scalars, its flow collections and its comments are. The reader needs none of it;
//! tools that speak of comments or of blanks ask here.

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle, options};
use std::ops::Range;

/// Bytes of a text by what stands there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// Every scalar that is written, keys included, in order.
    pub scalars: Vec<Range<usize>>,
    /// The outermost flow collections, in order.
    pub flows: Vec<Range<usize>>,
    /// Every comment, from its `#` to the end of its line. A `#` within a scalar is none.
    pub comments: Vec<Range<usize>>,
    /// Whether the whole text could be read; else everything up to the first mistake of the syntax is here.
    pub complete: bool,
}

impl Layout {
    /// Reads a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut options = options! { disallow_directives: true, emit_unresolved_aliases: true };
        options.set_emit_comments(false);
        let mut layout = Self { complete: true, ..Self::default() };
        // The beginning of the outermost open flow collection, and how many are open.
        let (mut begun, mut open) = (0, Vec::new());
        for event in Parser::new_from_str_with_options(text, options) {
            let Ok((event, span)) = event else {
                layout.complete = false;
                break;
            };
            let range = span.byte_range().unwrap_or(0..0);
            match event {
                Event::Scalar(_, style, ..) if !range.is_empty() => {
                    let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                    let range = if block { with_mark(text, &layout, range) } else { range };
                    layout.scalars.push(written(text, range));
                }
                Event::SequenceStart(style, ..) | Event::MappingStart(style, ..) => {
                    let flow = style != StructureStyle::Block;
                    if flow && !open.contains(&true) {
                        begun = range.start;
                    }
                    open.push(flow);
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let flow = open.pop() == Some(true);
                    if flow && !open.contains(&true) {
                        layout.flows.push(begun..range.end);
                    }
                }
                _ => {}
            }
        }
        layout.comments = comments(text, &layout);
        layout
    }
}

/// A block scalar from its mark on: the parser's range begins with its first line.
fn with_mark(text: &str, layout: &Layout, range: Range<usize>) -> Range<usize> {
    let from = layout.scalars.last().map_or(0, |last| last.end);
    let mark = text.get(from..range.start).and_then(|between| between.find(['|', '>']));
    mark.map_or(range.start, |mark| from + mark)..range.end
}

/// A scalar without what its range has of the next line. With `+` behind its mark the line breaks at its end are its own.
fn written(text: &str, range: Range<usize>) -> Range<usize> {
    let own = text.get(range.clone()).unwrap_or_default();
    let header = own.lines().next().unwrap_or_default();
    let keeps =
        header.starts_with(['|', '>']) && header.split('#').next().is_some_and(|mark| mark.contains('+'));
    let end = if keeps { own.trim_end_matches([' ', '\t']) } else { own.trim_end() };
    range.start..range.start + end.len()
}

fn comments(text: &str, layout: &Layout) -> Vec<Range<usize>> {
    // What comes after a mistake is no structure: only what was read can be told apart.
    let read_to = if layout.complete { text.len() } else { layout.scalars.last().map_or(0, |last| last.end) };
    let mut found = Vec::new();
    let mut scalars = layout.scalars.iter().peekable();
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(at) =
        memchr::memchr(b'#', bytes.get(from..read_to).unwrap_or_default()).map(|at| from + at)
    {
        while scalars.next_if(|scalar| scalar.end <= at).is_some() {}
        let within = scalars.peek().is_some_and(|scalar| scalar.start <= at);
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let begins = before.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
            || (at == 3 && text.starts_with('\u{feff}'));
        if within || !begins {
            from = at + 1;
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let line = rest.find(['\n', '\r']).map_or(rest, |end| rest.get(..end).unwrap_or_default());
        found.push(at..at + line.trim_end().len());
        from = at + line.len().max(1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_told_apart() {
        let text = "# one\na: 'x # y' # two\nb: [1, {c: d}]\ne: |\n  # text\nf: g#h\n";
        let layout = Layout::of(text);
        let slices = |ranges: &[Range<usize>]| -> Vec<&str> {
            ranges.iter().map(|range| text.get(range.clone()).unwrap()).collect()
        };
        assert!(layout.complete);
        assert_eq!(slices(&layout.comments), ["# one", "# two"]);
        assert_eq!(slices(&layout.flows), ["[1, {c: d}]"]);
        assert_eq!(
            slices(&layout.scalars),
            ["a", "'x # y'", "b", "1", "c", "d", "e", "|\n  # text", "f", "g#h"]
        );
    }
}
