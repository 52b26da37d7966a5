//! The log against a plain model of it, and its three ways of being full.

use super::Stream::{Stderr, Stdout};
use super::*;
use proptest::prelude::*;

fn texts(segments: &[Segment]) -> Vec<(Stream, u64, &str)> {
    segments.iter().map(|s| (s.stream, s.offset, std::str::from_utf8(&s.data).unwrap())).collect()
}

fn push(log: &mut Log, stream: Stream, text: &str) {
    log.push(stream, Bytes::copy_from_slice(text.as_bytes()));
}

#[test]
fn keeps_the_order_in_which_both_streams_came() {
    let mut log = Log::new(100, Full::Pause);
    for (stream, text) in [(Stdout, "a"), (Stdout, "b"), (Stderr, "c"), (Stdout, "d")] {
        push(&mut log, stream, text);
    }
    let mut cursor = Cursor::default();
    assert_eq!(texts(&log.read(&mut cursor, 100)), [(Stdout, 0, "ab"), (Stderr, 0, "c"), (Stdout, 2, "d")]);
    assert_eq!(texts(&log.read(&mut cursor, 100)), []);
    push(&mut log, Stdout, "e");
    assert_eq!(texts(&log.read(&mut cursor, 100)), [(Stdout, 3, "e")], "a segment that grew is seen again");
    assert_eq!(texts(&log.read(&mut Cursor::at(2, 1), 100)), [(Stdout, 2, "de")]);
}

#[test]
fn pauses_when_full_and_goes_on_after_an_acknowledgement() {
    let mut log = Log::new(4, Full::Pause);
    push(&mut log, Stdout, "abcd");
    assert_eq!((log.room(Stdout), log.room(Stderr)), (0, 4));
    assert!(log.acknowledge([3, 0]));
    assert_eq!((log.room(Stdout), log.first(Stdout)), (3, 3));
    assert_eq!(texts(&log.read(&mut Cursor::default(), 9)), [(Stdout, 3, "d")]);
    assert!(!log.acknowledge([2, 0]), "an acknowledgement never goes back");
    assert!(log.acknowledge([99, 99]), "and never beyond the end");
    assert_eq!((log.first(Stdout), log.end(Stdout)), (4, 4));
}

#[test]
fn drops_the_oldest_of_the_stream_that_is_full() {
    let mut log = Log::new(4, Full::DropOldest);
    push(&mut log, Stderr, "E");
    push(&mut log, Stdout, "abc");
    push(&mut log, Stdout, "defg");
    assert_eq!(log.slice(Stdout, 0, 99), (3, b"defg".to_vec()));
    assert_eq!(log.slice(Stdout, 5, 1), (5, b"f".to_vec()));
    assert_eq!(log.slice(Stderr, 0, 99), (0, b"E".to_vec()));
    assert!(!log.truncated(Stdout));
}

#[test]
fn keeps_the_head_and_says_that_there_was_more() {
    let mut log = Log::new(4, Full::KeepHead);
    push(&mut log, Stdout, "abc");
    push(&mut log, Stdout, "def");
    push(&mut log, Stdout, "g");
    assert_eq!(log.slice(Stdout, 0, 99), (0, b"abcd".to_vec()));
    assert_eq!((log.truncated(Stdout), log.truncated(Stderr), log.end(Stdout)), (true, false, 4));
}

proptest! {
    #[test]
    fn a_reader_that_keeps_up_sees_every_byte_once(
        steps in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..3000), 1_usize..5000), 0..60)
    ) {
        let mut log = Log::new(64 * 1024, Full::Pause);
        let (mut wanted, mut seen) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        let mut cursor = Cursor::default();
        for (second, bytes, limit) in steps {
            let stream = if second { Stderr } else { Stdout };
            if bytes.len() <= log.room(stream) {
                wanted[stream as usize].extend_from_slice(&bytes);
                log.push(stream, bytes.into());
            }
            for segment in log.read(&mut cursor, limit) {
                prop_assert_eq!(segment.offset, seen[segment.stream as usize].len() as u64);
                seen[segment.stream as usize].extend_from_slice(&segment.data);
            }
            log.acknowledge(cursor.offsets);
        }
        while !{ let more = log.read(&mut cursor, usize::MAX); for s in &more { seen[s.stream as usize].extend_from_slice(&s.data) }; more.is_empty() } {}
        prop_assert_eq!(seen, wanted);
    }
}
