//! Reading one file for the lines that hold a text, through a window however long its lines are.

use crate::files::{FilesError, Stop};
use memchr::memmem::Finder;
use rustix::fd::OwnedFd;

/// Bytes read at a time. A file up to this size is one read.
const WINDOW: usize = 256 * 1024;
/// A file with a NUL in this many first bytes is binary, and skipped.
const BINARY_PROBE: usize = 8 * 1024;
/// Longest text of one line in an answer; the rest of a longer line is cut off.
const MAX_TEXT: usize = 4096;

/// The scan of one file after another through one window.
pub(super) struct Scan<'a> {
    finder: &'a Finder<'a>,
    stop: &'a Stop,
    window: Vec<u8>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(finder: &'a Finder<'a>, stop: &'a Stop) -> Self {
        Self { finder, stop, window: vec![0; WINDOW] }
    }

    /// Calls `each` with the number and the text of every matching line.
    pub(super) fn lines(&mut self, fd: &OwnedFd, mut each: impl FnMut(u64, &[u8])) -> Result<(), FilesError> {
        let Self { finder, stop, window } = self;
        let mut state = LineState { number: 1, head: Vec::new(), matched: false };
        let mut kept = 0;
        let mut first = true;
        loop {
            stop.check()?;
            let room = window.get_mut(kept..).unwrap_or_default();
            let read = rustix::io::read(fd, room)?;
            let filled = window.get(..kept + read).unwrap_or_default();
            if first
                && memchr::memchr(0, filled.get(..BINARY_PROBE.min(filled.len())).unwrap_or_default())
                    .is_some()
            {
                return Ok(());
            }
            first = false;
            let at_end = read == 0;
            let used = state.feed(finder, filled, at_end, &mut each);
            if at_end {
                return Ok(());
            }
            let total = kept + read;
            window.copy_within(used..total, 0);
            kept = total - used;
        }
    }
}

/// Where a scan stands within a line that is longer than the window.
struct LineState {
    number: u64,
    /// The start of a line whose beginning has left the window.
    head: Vec<u8>,
    /// That line has been reported.
    matched: bool,
}

impl LineState {
    /// Takes what it can of `bytes` and tells how much that was. Whole lines are taken at once; of a line that fills
    /// the window everything but what could be the start of a match.
    fn feed(
        &mut self,
        finder: &Finder<'_>,
        bytes: &[u8],
        at_end: bool,
        each: &mut impl FnMut(u64, &[u8]),
    ) -> usize {
        let whole = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        let end = if at_end { bytes.len() } else { whole };
        if end > 0 {
            self.whole_lines(finder, bytes.get(..end).unwrap_or_default(), each);
            return end;
        }
        if bytes.len() < WINDOW {
            return 0;
        }
        if !self.matched && finder.find(bytes).is_some() {
            self.report(bytes, each);
        }
        let overlap = finder.needle().len().saturating_sub(1);
        let used = bytes.len().saturating_sub(overlap);
        let room = MAX_TEXT.saturating_sub(self.head.len());
        self.head.extend(bytes.iter().take(used.min(room)));
        used
    }

    /// Lines that end within `bytes`, or at the end of the file.
    fn whole_lines(&mut self, finder: &Finder<'_>, bytes: &[u8], each: &mut impl FnMut(u64, &[u8])) {
        let mut counted = 0;
        let mut from = 0;
        while let Some(at) = bytes.get(from..).and_then(|rest| finder.find(rest)) {
            let at = from + at;
            let (before, after) = bytes.split_at(at);
            let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
            let end = memchr::memchr(b'\n', after).map_or(bytes.len(), |end| at + end);
            let passed = bytes.get(counted..start).unwrap_or_default();
            let ends = memchr::memchr_iter(b'\n', passed).count() as u64;
            if ends > 0 {
                self.next_line(ends);
            }
            counted = start;
            if !self.matched {
                self.report(bytes.get(start..end).unwrap_or_default(), each);
            }
            from = end;
        }
        let rest = bytes.get(counted..).unwrap_or_default();
        let ends = memchr::memchr_iter(b'\n', rest).count() as u64;
        if ends > 0 {
            self.next_line(ends);
        }
    }

    fn next_line(&mut self, ends: u64) {
        self.number += ends;
        self.head.clear();
        self.matched = false;
    }

    fn report(&mut self, text: &[u8], each: &mut impl FnMut(u64, &[u8])) {
        self.matched = true;
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let room = MAX_TEXT.saturating_sub(self.head.len());
        let tail = text.get(..room.min(text.len())).unwrap_or_default();
        if self.head.is_empty() {
            each(self.number, tail);
        } else {
            each(self.number, &[self.head.as_slice(), tail].concat());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek as _, Write as _};

    fn scan(content: &[u8], needle: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file.rewind().unwrap();
        let finder = Finder::new(needle);
        let stop = Stop::default();
        let mut scan = Scan::new(&finder, &stop);
        let mut out = Vec::new();
        scan.lines(&file.into(), |line, text| out.push((line, text.to_vec()))).unwrap();
        out
    }

    #[test]
    fn numbers_lines_and_reports_each_once() {
        let content = b"one x\ntwo\nx x x\r\nlast x";
        let want: Vec<(u64, Vec<u8>)> =
            vec![(1, b"one x".to_vec()), (3, b"x x x".to_vec()), (4, b"last x".to_vec())];
        assert_eq!(scan(content, b"x"), want);
    }

    #[test]
    fn skips_binary_files() {
        assert_eq!(scan(b"x\0x", b"x"), vec![]);
    }

    #[test]
    fn agrees_with_a_plain_search_across_windows() {
        for size in [WINDOW - 3, WINDOW, WINDOW + 3, 3 * WINDOW + 7] {
            let mut content = vec![b'a'; size];
            content.extend_from_slice(b"needle tail\nnext\nneedle\n");
            let got = scan(&content, b"needle");
            let lines: Vec<u64> = got.iter().map(|(line, _)| *line).collect();
            assert_eq!(lines, vec![1, 3], "{size}");
            assert_eq!(got[0].1, vec![b'a'; MAX_TEXT], "{size}");
        }
    }

    #[test]
    fn many_short_lines_over_several_windows() {
        let content: Vec<u8> = (1..=60_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        let got = scan(&content, b"line 59999");
        assert_eq!(got, vec![(59_999, b"line 59999".to_vec())]);
        assert_eq!(scan(&content, b"line").len(), 60_000);
    }
}
