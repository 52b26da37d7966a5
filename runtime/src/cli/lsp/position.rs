//! Places as editors count them: lines from 0, columns in UTF-16 units or in bytes, as was agreed.

use lsp_types::{Position, Range};

/// How columns are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
}

impl Encoding {
    /// The position of a byte.
    pub(super) fn position(self, text: &str, byte: usize) -> Position {
        let byte = (0..=byte.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let before = text.get(..byte).unwrap_or_default();
        let line = memchr::memchr_iter(b'\n', before.as_bytes()).count();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(start..).unwrap_or_default();
        let character = match self {
            Self::Utf8 => column.len(),
            Self::Utf16 => column.encode_utf16().count(),
        };
        Position { line: number(line), character: number(character) }
    }

    /// The byte of a position; the end of the line where the column is beyond it.
    pub(super) fn byte(self, text: &str, position: Position) -> usize {
        let mut start = 0;
        for _ in 0..position.line {
            match memchr::memchr(b'\n', text.as_bytes().get(start..).unwrap_or_default()) {
                Some(end) => start += end + 1,
                None => return text.len(),
            }
        }
        let line = text.get(start..).unwrap_or_default();
        let line = line.split('\n').next().unwrap_or_default();
        let wanted = position.character as usize;
        let mut seen = 0;
        for (at, character) in line.char_indices() {
            if seen >= wanted {
                return start + at;
            }
            seen += match self {
                Self::Utf8 => character.len_utf8(),
                Self::Utf16 => character.len_utf16(),
            };
        }
        start + line.trim_end_matches('\r').len()
    }

    pub(super) fn range(self, text: &str, bytes: std::ops::Range<usize>) -> Range {
        Range { start: self.position(text, bytes.start), end: self.position(text, bytes.end) }
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        let text = "a: é\r\n端点: 😀x\n";
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            for (byte, _) in text.char_indices() {
                let position = encoding.position(text, byte);
                if text.as_bytes().get(byte) == Some(&b'\n')
                    && text.as_bytes().get(byte.wrapping_sub(1)) == Some(&b'\r')
                {
                    continue;
                }
                assert_eq!(encoding.byte(text, position), byte, "{encoding:?} {byte} {position:?}");
            }
        }
        assert_eq!(
            Encoding::Utf16.position(text, text.find('x').unwrap()),
            Position { line: 1, character: 6 }
        );
        assert_eq!(Encoding::Utf8.byte(text, Position { line: 9, character: 0 }), text.len());
    }
}
