//! A reader of events that costs next to nothing: it looks for numbers and for the end of a turn, and parses nothing else.

use std::io::{Read as _, Write as _};
use std::thread::JoinHandle;
use std::time::Duration;

/// A reader on a thread of its own.
pub struct Tap(JoinHandle<u64>);

impl Tap {
    /// Opens a stream; returns when its head is there.
    pub fn open(port: u16, path: &str) -> Self {
        let mut stream = crate::raw::connect(port);
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
        let mut buffer = vec![0; 1 << 18];
        let read = stream.read(&mut buffer).unwrap();
        assert!(buffer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&buffer[..read]));
        Self(std::thread::spawn(move || {
            let (mut held, mut last, mut count) = (read, 0, 0);
            loop {
                // Up to the end of the last whole event. Pieces of the body hold whole events.
                let whole = memchr::memmem::rfind(&buffer[..held], b"\n\n").map_or(0, |end| end + 2);
                for at in memchr::memmem::find_iter(&buffer[..whole], b"\nid: ") {
                    let digits = buffer[at + 5..whole].iter().take_while(|byte| byte.is_ascii_digit());
                    let number = digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
                    assert!(last == 0 || number == last + 1, "{number} behind {last}");
                    last = number;
                    count += 1;
                }
                if memchr::memmem::find(&buffer[..whole], b"\nevent: turn.completed\n").is_some() {
                    return last;
                }
                // The end of a line stays: the next number may follow it at once.
                let from = whole.saturating_sub(1);
                buffer.copy_within(from..held, 0);
                held -= from;
                assert!(held < buffer.len(), "an event larger than the buffer");
                let read = stream.read(&mut buffer[held..]).unwrap();
                assert!(read > 0, "the stream ended after {count} events");
                held += read;
            }
        }))
    }

    /// Waits for the end of the turn; the number of the event that says so.
    pub fn wait(self) -> u64 {
        self.0.join().unwrap()
    }
}
