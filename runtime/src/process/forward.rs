//! Passes what background processes print on to the server's own log, a line each with the pid before it.
//!
//! For whoever has only the container's log to go by. Everything about it is bounded and nothing waits for it: lines are
//! cut, a process that floods is counted instead of printed, and where the log takes no more, lines are dropped and counted.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::exit::Exit;
use super::ring::Stream;

/// Lines that may wait to be written; as many more may wait of what must not be lost in a flood: how processes ended.
const WAITING: usize = 256;

/// Longest line, in bytes; what is longer goes on in the next one.
const LONGEST: usize = 4096;

/// Lines of one stream in one [`WINDOW`].
const MOST: u32 = 500;
const WINDOW: Duration = Duration::from_secs(1);

/// What the thread that writes is told.
#[derive(Debug)]
enum Note {
    Line(String),
    /// Answered once everything before it has been written.
    Flush(SyncSender<()>),
}

/// The way into the log. Shared by all processes.
#[derive(Debug)]
pub struct Forward {
    notes: SyncSender<Note>,
    waiting: Arc<AtomicUsize>,
    dropped: Arc<AtomicU64>,
}

impl Forward {
    /// Starts the thread that gives lines to `write`.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(write: impl FnMut(&str) + Send + 'static) -> io::Result<Arc<Self>> {
        let (notes, taken) = sync_channel(2 * WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let waiting = Arc::new(AtomicUsize::new(0));
        let (counted, left) = (Arc::clone(&dropped), Arc::clone(&waiting));
        std::thread::Builder::new()
            .name("forward".to_owned())
            .stack_size(128 * 1024)
            .spawn(move || run(&taken, &left, &counted, write))?;
        Ok(Arc::new(Self { notes, waiting, dropped }))
    }

    /// Waits until what came so far is written; gives up after `patience`.
    pub fn flush(&self, patience: Duration) {
        let (done, told) = sync_channel(1);
        if self.send(Note::Flush(done)) {
            // Late is as good as never: the server is stopping.
            let _ = told.recv_timeout(patience);
        }
    }

    fn line(&self, line: String) {
        if self.waiting.load(Ordering::Relaxed) >= WAITING || !self.send(Note::Line(line)) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Says whether there was room.
    fn send(&self, note: Note) -> bool {
        // Counted first: the thread takes it off as soon as it is there.
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let sent = self.notes.try_send(note).is_ok();
        if !sent {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        sent
    }

    /// A line that a flood of others does not displace.
    fn last_line(&self, line: String) {
        if !self.send(Note::Line(line)) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Tells how a process ended.
    pub(super) fn ended(&self, pid: i32, exit: Exit) {
        self.last_line(match exit.signal {
            Some(signal) => format!("pid {pid} was ended by signal {signal}"),
            None => format!("pid {pid} ended with exit code {}", exit.exit_code()),
        });
    }
}

/// Writes lines as they come, and how many did not.
fn run(notes: &Receiver<Note>, waiting: &AtomicUsize, dropped: &AtomicU64, mut write: impl FnMut(&str)) {
    while let Ok(note) = notes.recv() {
        waiting.fetch_sub(1, Ordering::Relaxed);
        if let Note::Line(line) = &note {
            write(line);
        }
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            write(&format!("{lost} lines of processes were not forwarded: the log takes no more"));
        }
        if let Note::Flush(done) = note {
            // Nobody waits any more where this fails.
            let _ = done.send(());
        }
    }
}

/// One stream of one process on its way into the log.
#[derive(Debug)]
pub(super) struct Tap {
    forward: Arc<Forward>,
    pid: i32,
    stream: &'static str,
    held: Vec<u8>,
    window: Instant,
    lines: u32,
    skipped: u64,
}

impl Tap {
    pub(super) fn new(forward: Arc<Forward>, pid: i32, stream: Stream) -> Self {
        let stream = match stream {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        };
        Self { forward, pid, stream, held: Vec::new(), window: Instant::now(), lines: 0, skipped: 0 }
    }

    /// Takes output; passes on every line that it completes.
    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        while let Some(length) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at_checked(length).unwrap_or((bytes, &[]));
            self.hold(line);
            self.pass();
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.hold(bytes);
    }

    /// Passes on what is no whole line yet, when nothing more will come.
    pub(super) fn finish(&mut self) {
        if !self.held.is_empty() {
            self.pass();
        }
        self.report();
    }

    fn hold(&mut self, mut bytes: &[u8]) {
        while self.held.len() + bytes.len() > LONGEST {
            let room = LONGEST.saturating_sub(self.held.len());
            let (head, tail) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
            self.held.extend_from_slice(head);
            self.pass();
            bytes = tail;
        }
        self.held.extend_from_slice(bytes);
    }

    fn pass(&mut self) {
        if self.window.elapsed() >= WINDOW {
            self.report();
            (self.window, self.lines) = (Instant::now(), 0);
        }
        if self.lines < MOST {
            self.lines += 1;
            let text = format!("pid {} {}: {}", self.pid, self.stream, printable(&self.held));
            self.forward.line(text);
        } else {
            self.skipped += 1;
        }
        self.held.clear();
    }

    fn report(&mut self) {
        if self.skipped > 0 {
            let (pid, stream, skipped) = (self.pid, self.stream, std::mem::take(&mut self.skipped));
            self.forward.last_line(format!(
                "pid {pid} {stream}: {skipped} lines were not forwarded: too many at once"
            ));
        }
    }
}

/// Text in which no process can forge a line of another, or move the reader's cursor.
fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for character in String::from_utf8_lossy(bytes).chars() {
        if character.is_control() && character != '\t' {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn forwarded(work: impl FnOnce(&Arc<Forward>)) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let forward = Forward::start(move |line| kept.lock().unwrap().push(line.to_owned())).unwrap();
        work(&forward);
        forward.flush(Duration::from_secs(90));
        let lines = lines.lock().unwrap();
        lines.clone()
    }

    #[test]
    fn lines_are_whole_and_cannot_be_forged() {
        let lines = forwarded(|forward| {
            let mut tap = Tap::new(Arc::clone(forward), 7, Stream::Stderr);
            for piece in ["a", "b\n\n\x1b[2Jc\rd\n", "\u{e9}\t", "last"] {
                tap.take(piece.as_bytes());
            }
            tap.take(b"\xff");
            tap.finish();
            let exit = Exit { code: None, signal: Some(11), core_dumped: false, reason: None };
            forward.ended(7, exit);
        });
        assert_eq!(
            lines,
            [
                "pid 7 stderr: ab",
                "pid 7 stderr: ",
                "pid 7 stderr: \\u{1b}[2Jc\\rd",
                "pid 7 stderr: \u{e9}\tlast\u{fffd}",
                "pid 7 was ended by signal 11",
            ]
        );
    }

    #[test]
    fn a_line_without_end_is_cut_and_a_flood_is_counted() {
        let lines = forwarded(|forward| {
            Tap::new(Arc::clone(forward), 7, Stream::Stdout).take(&[b'x'; LONGEST * 2 + 1]);
            let mut tap = Tap::new(Arc::clone(forward), 8, Stream::Stdout);
            // One window, however long this takes.
            tap.window = Instant::now() + Duration::from_secs(3600);
            for _ in 0..MOST {
                tap.take(b"y\n");
                // So that the queue is never full.
                forward.flush(Duration::from_secs(90));
            }
            tap.take(&b"y\n".repeat(1000));
            tap.finish();
        });
        assert_eq!(lines.iter().filter(|line| line.ends_with(&"x".repeat(LONGEST))).count(), 2);
        assert_eq!(lines.last().unwrap(), "pid 8 stdout: 1000 lines were not forwarded: too many at once");
    }

    #[test]
    fn a_log_that_takes_nothing_holds_nobody() {
        let (go, wait) = sync_channel::<()>(0);
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let forward = Forward::start(move |line: &str| {
            let _ = wait.recv();
            kept.lock().unwrap().push(line.to_owned());
        })
        .unwrap();
        let mut tap = Tap::new(Arc::clone(&forward), 9, Stream::Stdout);
        tap.take(&b"z\n".repeat(MOST as usize));
        drop(go);
        forward.flush(Duration::from_secs(90));
        let lines = lines.lock().unwrap();
        let lost = lines.iter().find(|line| line.contains("takes no more")).unwrap();
        let lost: usize = lost.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(lines.len() - 1 + lost, MOST as usize);
    }
}
