//! Output as one event a line, the source document's form: whole lines at once, the last partial line at the end.

use crate::process::{Segment, Stream};

/// A line without an end is cut at about this many bytes, so that it is neither held for ever nor without bound.
const LONGEST: usize = 64 * 1024;

/// Turns segments into events and holds back what is no whole line yet.
#[derive(Debug, Default)]
pub struct Lines {
    /// Whether events carry the offset of their first byte.
    offsets: bool,
    held: [Held; 2],
}

#[derive(Debug, Default)]
struct Held {
    bytes: Vec<u8>,
    offset: u64,
}

impl Lines {
    /// A framer; with `offsets`, each event says where in its stream it begins.
    #[must_use]
    pub fn new(offsets: bool) -> Self {
        Self { offsets, held: Default::default() }
    }

    /// Writes the events that a segment completes.
    pub fn segment(&mut self, out: &mut Vec<u8>, segment: &Segment) {
        let offsets = self.offsets;
        let held = self.held(segment.stream);
        let mut rest: &[u8] = &segment.data;
        let mut at = segment.offset;
        while let Some(length) = memchr::memchr(b'\n', rest) {
            let (line, behind) = rest.split_at_checked(length).unwrap_or((rest, &[]));
            if held.bytes.is_empty() {
                write(out, segment.stream, line, offsets.then_some(at));
            } else {
                held.bytes.extend_from_slice(line);
                write(out, segment.stream, &held.bytes, offsets.then_some(held.offset));
                held.bytes.clear();
            }
            rest = behind.get(1..).unwrap_or_default();
            at += length as u64 + 1;
        }
        if rest.is_empty() {
            return;
        }
        if held.bytes.is_empty() {
            held.offset = at;
        }
        held.bytes.extend_from_slice(rest);
        if held.bytes.len() > LONGEST {
            let cut = whole(&held.bytes);
            let tail = held.bytes.split_off(cut);
            write(out, segment.stream, &held.bytes, offsets.then_some(held.offset));
            held.offset += cut as u64;
            held.bytes = tail;
        }
    }

    /// Writes what is still held, when nothing more will come.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let offsets = self.offsets;
            let held = self.held(stream);
            if !held.bytes.is_empty() {
                write(out, stream, &held.bytes, offsets.then_some(held.offset));
                held.bytes.clear();
            }
        }
    }

    fn held(&mut self, stream: Stream) -> &mut Held {
        let [stdout, stderr] = &mut self.held;
        if stream == Stream::Stdout { stdout } else { stderr }
    }
}

/// How many of the bytes end in a whole character: what is behind may be the beginning of one.
pub(crate) fn whole(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        let wanted = match bytes.get(at) {
            Some(0xC2..=0xDF) => 2,
            Some(0xE0..=0xEF) => 3,
            Some(0xF0..=0xF4) => 4,
            Some(0x80..=0xBF) => continue,
            _ => return bytes.len(),
        };
        return if back < wanted { at } else { bytes.len() };
    }
    bytes.len()
}

/// One line as one event.
fn write(out: &mut Vec<u8>, stream: Stream, line: &[u8], offset: Option<u64>) {
    out.extend_from_slice(match stream {
        Stream::Stdout => b"event: stdout\ndata: {\"data\":",
        Stream::Stderr => b"event: stderr\ndata: {\"data\":",
    });
    // Writing text to memory cannot fail.
    let _ = serde_json::to_writer(&mut *out, &String::from_utf8_lossy(line));
    if let Some(offset) = offset {
        out.extend_from_slice(format!(",\"offset\":{offset}").as_bytes());
    }
    out.extend_from_slice(b"}\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The data of all events, by stream.
    fn events(pieces: &[(Stream, &[u8])], offsets: bool) -> Vec<String> {
        let mut lines = Lines::new(offsets);
        let (mut out, mut at) = (Vec::new(), [0, 0]);
        for (stream, data) in pieces {
            let offset = at[*stream as usize];
            at[*stream as usize] += data.len() as u64;
            lines.segment(&mut out, &Segment { stream: *stream, offset, data: data.to_vec().into() });
        }
        lines.finish(&mut out);
        let text = String::from_utf8(out).unwrap();
        text.split_terminator("\n\n").map(|e| e.replace("event: ", "").replace("\ndata: ", " ")).collect()
    }

    #[test]
    fn lines_come_whole_and_the_last_partial_one_at_the_end() {
        let pieces: [(Stream, &[u8]); 5] = [
            (Stream::Stdout, b"a\nb"),
            (Stream::Stderr, b"E\n"),
            (Stream::Stdout, b"c\n\nd\r\n"),
            (Stream::Stdout, b"\xc3"),
            (Stream::Stdout, b"\xa9\xff"),
        ];
        assert_eq!(
            events(&pieces, true),
            [
                r#"stdout {"data":"a","offset":0}"#,
                r#"stderr {"data":"E","offset":0}"#,
                r#"stdout {"data":"bc","offset":2}"#,
                r#"stdout {"data":"","offset":5}"#,
                r#"stdout {"data":"d\r","offset":6}"#,
                "stdout {\"data\":\"é\u{fffd}\",\"offset\":9}",
            ]
        );
    }

    #[test]
    fn a_line_without_end_is_cut_between_characters() {
        let text = "€".repeat(100_000);
        let pieces: Vec<(Stream, &[u8])> =
            text.as_bytes().chunks(1000).map(|c| (Stream::Stdout, c)).collect();
        let events = events(&pieces, false);
        assert!(events.len() > 3);
        let joined: String = events
            .iter()
            .map(|e| {
                let value: serde_json::Value =
                    serde_json::from_str(e.strip_prefix("stdout ").unwrap()).unwrap();
                value["data"].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(joined, text);
    }

    proptest! {
        #[test]
        fn whole_never_cuts_a_character(text in "\\PC{0,8}", cut in 0_usize..40) {
            let bytes = &text.as_bytes()[..cut.min(text.len())];
            let kept = whole(bytes);
            prop_assert!(text.is_char_boundary(kept));
            prop_assert!(bytes.len() - kept < 4);
        }
    }
}
