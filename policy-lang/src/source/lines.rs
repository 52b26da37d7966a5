//! From byte offsets to lines and columns, in `O(log lines)` whatever the length of a line.

/// Bytes between two checkpoints of the character count; a column never counts more bytes than this.
const STRIDE: usize = 256;

/// U+FEFF in UTF-8. At the start of a text it is no character of the first line.
const BOM: &str = "\u{FEFF}";

/// Where the lines of one text begin, and how many characters stand before every [`STRIDE`]th byte.
#[derive(Debug)]
pub(super) struct LineIndex {
    /// Byte offset of the first character of each line; never empty.
    starts: Vec<u32>,
    /// Characters that begin before byte `i * STRIDE`; empty for an ASCII text, where a byte is a character.
    checkpoints: Vec<u32>,
}

impl LineIndex {
    /// Reads the text once. A line ends at LF, CRLF or a CR alone.
    pub(super) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let first = if text.starts_with(BOM) { BOM.len() } else { 0 };
        let mut starts = vec![offset(first)];
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let crlf = bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) == Some(&b'\n');
            if !crlf {
                starts.push(offset(at + 1));
            }
        }
        let mut checkpoints = Vec::new();
        if !text.is_ascii() {
            let mut seen = 0;
            for chunk in bytes.chunks(STRIDE) {
                checkpoints.push(seen);
                seen += count(chunk);
            }
            checkpoints.push(seen);
        }
        Self { starts, checkpoints }
    }

    /// Line and column of a byte, from 1, the column in characters.
    pub(super) fn line_column(&self, text: &str, at: u32) -> (u32, u32) {
        let at = offset(boundary(text, at as usize));
        let line = self.starts.partition_point(|&start| start <= at).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let column = self.characters(text, at).saturating_sub(self.characters(text, start));
        (offset(line), column + 1)
    }

    /// The bytes of a line counted from 1, without its line break.
    pub(super) fn line_range(&self, text: &str, line: u32) -> Option<std::ops::Range<u32>> {
        let index = (line as usize).checked_sub(1)?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).copied().unwrap_or(offset(text.len()));
        let line = text.get(start as usize..end as usize)?;
        let body = line.strip_suffix("\r\n").or_else(|| line.strip_suffix(['\n', '\r'])).unwrap_or(line);
        Some(start..start + offset(body.len()))
    }

    /// Characters that begin before a byte.
    fn characters(&self, text: &str, at: u32) -> u32 {
        let checkpoint = at as usize / STRIDE;
        match self.checkpoints.get(checkpoint) {
            None => at,
            Some(before) => before + text.as_bytes().get(checkpoint * STRIDE..at as usize).map_or(0, count),
        }
    }
}

/// The last character boundary at or before a byte offset.
pub(super) fn boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Characters that begin within some bytes of a text.
fn count(bytes: &[u8]) -> u32 {
    offset(bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count())
}

/// Texts are bounded far below `u32::MAX` by the source map.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::{Place, SourceMap, Span};

    /// Line and column by the definition, one character after the other.
    fn by_counting(text: &str, at: usize) -> (u32, u32) {
        let (mut line, mut column) = (1, 1);
        let mut characters = text.char_indices().skip(usize::from(text.starts_with('\u{FEFF}'))).peekable();
        while let Some((index, character)) = characters.next() {
            if index >= at {
                break;
            }
            let next = characters.peek().map(|&(_, next)| next);
            if character == '\n' || (character == '\r' && next != Some('\n')) {
                (line, column) = (line + 1, 1);
            } else {
                column += 1;
            }
        }
        (line, column)
    }

    #[test]
    fn every_offset_agrees_with_counting() {
        let long = format!("é端😀{}", "a端😀é".repeat(300));
        for text in [
            "",
            "a",
            "a\n",
            "a\nb",
            "\n\n",
            "a\r\nb\r\n",
            "a\rb\r",
            "a\r\n\rb\n\r",
            "端点: é\n\t😀: x\r\n末",
            "\u{FEFF}server:\n  x: 1",
            "\u{FEFF}",
            "no newline at the end 端",
            long.as_str(),
        ] {
            let mut sources = SourceMap::new();
            let id = sources.add("t", text);
            for at in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
                let wanted = by_counting(text, at);
                assert_eq!(sources.line_column(id, at as u32), wanted, "offset {at} of {text:?}");
            }
        }
    }

    #[test]
    fn a_place_has_both_ends_and_both_units() {
        let mut sources = SourceMap::new();
        let id = sources.add("t.yaml", "# 端点策略\r\nshell: 'é'\r\n");
        let span = Span { source: id, start: 23, end: 27 };
        assert_eq!(sources.slice(span), "'é'");
        assert_eq!(
            sources.place(span),
            Place {
                source: id,
                line: 2,
                column: 8,
                end_line: 2,
                end_column: 11,
                byte_start: 23,
                byte_end: 27
            }
        );
    }

    #[test]
    fn offsets_outside_or_inside_a_character_are_taken_to_the_nearest_before() {
        let mut sources = SourceMap::new();
        let id = sources.add("t", "a端b\n");
        assert_eq!(sources.line_column(id, 2), (1, 2));
        assert_eq!(sources.line_column(id, 900), (2, 1));
        assert_eq!(sources.slice(Span { source: id, start: 2, end: 3 }), "");
    }

    #[test]
    fn lines_come_without_their_breaks() {
        let mut sources = SourceMap::new();
        let id = sources.add("t", "\u{FEFF}a\r\nb\rc\n");
        let lines: Vec<_> =
            (0..6).map(|line| sources.line_span(id, line).map(|span| sources.slice(span))).collect();
        assert_eq!(lines, [None, Some("a"), Some("b"), Some("c"), Some(""), None]);
    }

    #[test]
    fn a_place_on_one_long_line_is_not_found_by_walking_it() {
        let text = "端".repeat(3 << 20);
        let mut sources = SourceMap::new();
        let id = sources.add("t", text);
        let started = std::time::Instant::now();
        for at in 0..100_000 {
            assert_eq!(sources.line_column(id, at * 90), (1, at * 30 + 1));
        }
        assert!(started.elapsed().as_secs() < 60, "a place must not cost a walk of the line");
    }
}
