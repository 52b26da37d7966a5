//! Bytes into lines, however they are cut, and never more than one line's bound held.

use bytes::Bytes;

/// The longest line that is read, in bytes: agents send images and whole files as one message.
pub const MAX_LINE: usize = 64 << 20;

/// One line of output, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A whole line; not empty.
    Whole(Bytes),
    /// A line past the bound, with its length. Its bytes are gone.
    TooLong(u64),
}

/// Gathers pieces into lines.
#[derive(Debug)]
pub struct Lines {
    limit: usize,
    partial: Vec<u8>,
    /// Bytes of a line that is too long and still going on.
    skipped: u64,
}

impl Default for Lines {
    fn default() -> Self {
        Self::with_limit(MAX_LINE)
    }
}

impl Lines {
    /// A reader with another bound.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { limit, partial: Vec::new(), skipped: 0 }
    }

    /// Takes a piece; `line` is told every line that it completes, in order.
    pub fn push(&mut self, piece: &Bytes, mut line: impl FnMut(Line)) {
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', piece) {
            let part = piece.slice(from..end);
            from = end + 1;
            if let Some(whole) = self.complete(part) {
                line(whole);
            }
        }
        let rest = piece.get(from..).unwrap_or_default();
        if self.skipped > 0 {
            self.skipped += rest.len() as u64;
        } else if self.partial.len() + rest.len() > self.limit {
            self.skipped = (self.partial.len() + rest.len()) as u64;
            self.partial = Vec::new();
        } else {
            self.partial.extend_from_slice(rest);
        }
    }

    /// The last line, where the output ended without a newline.
    pub fn finish(&mut self) -> Option<Line> {
        self.complete(Bytes::new())
    }

    /// Bytes held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.partial.len()
    }

    fn complete(&mut self, part: Bytes) -> Option<Line> {
        if self.skipped > 0 {
            let length = std::mem::take(&mut self.skipped) + part.len() as u64;
            return Some(Line::TooLong(length));
        }
        let length = self.partial.len() + part.len();
        if length > self.limit {
            self.partial = Vec::new();
            return Some(Line::TooLong(length as u64));
        }
        let mut whole = if self.partial.is_empty() {
            part
        } else {
            self.partial.extend_from_slice(&part);
            Bytes::from(std::mem::take(&mut self.partial))
        };
        if whole.ends_with(b"\r") {
            whole.truncate(whole.len() - 1);
        }
        (!whole.is_empty()).then_some(Line::Whole(whole))
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Lines};
    use bytes::Bytes;
    use proptest::prelude::*;

    /// Every line of `pieces`, and the most that was held meanwhile.
    fn read(pieces: &[&[u8]], limit: usize) -> (Vec<Line>, usize) {
        let (mut lines, mut found, mut held) = (Lines::with_limit(limit), Vec::new(), 0);
        for piece in pieces {
            lines.push(&Bytes::copy_from_slice(piece), |line| found.push(line));
            held = held.max(lines.held());
        }
        found.extend(lines.finish());
        (found, held)
    }

    fn whole(text: &str) -> Line {
        Line::Whole(Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn lines_are_cut_at_newlines_alone() {
        let (found, _) = read(&[b"a\r\nb\n\n\nc", b"d\ne"], 100);
        assert_eq!(found, [whole("a"), whole("b"), whole("cd"), whole("e")]);
    }

    #[test]
    fn a_line_past_the_bound_costs_itself_alone() {
        let (found, _) = read(&[b"12345", b"678\nok\n123456\n12345\n"], 5);
        assert_eq!(found, [Line::TooLong(8), whole("ok"), Line::TooLong(6), whole("12345")]);
    }

    proptest! {
        #[test]
        fn cuts_change_nothing_and_no_more_than_the_bound_is_held(
            data in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..400),
            cuts in prop::collection::vec(0usize..400, 0..8),
            limit in 1usize..40,
        ) {
            let (at_once, _) = read(&[&data], limit);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(data.len())).collect();
            cuts.extend([0, data.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &data[cut[0]..cut[1]]).collect();
            let (in_pieces, held) = read(&pieces, limit);
            prop_assert_eq!(&at_once, &in_pieces);
            prop_assert!(held <= limit);
            // What is whole is what stood between two newlines; what is too long is told with its length.
            let wanted: Vec<Line> = data.split(|byte| *byte == b'\n').filter_map(|part| {
                if part.len() > limit {
                    return Some(Line::TooLong(part.len() as u64));
                }
                let part = part.strip_suffix(b"\r").unwrap_or(part);
                (!part.is_empty()).then(|| Line::Whole(Bytes::copy_from_slice(part)))
            }).collect();
            prop_assert_eq!(at_once, wanted);
        }
    }
}
