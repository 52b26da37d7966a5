//! The bounded queue between requests and the thread that writes. A request only ever appends to memory.

use super::entry::{Entry, stamp};
use super::file::{self, FileLog};
use super::flood::{Flood, Verdict};
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// What may wait to be written.
const CAPACITY: usize = 1 << 20;
/// How long lines gather, so that one write carries many.
const GATHER: Duration = Duration::from_millis(3);
/// How often summaries are looked after while nothing else happens.
const TICK: Duration = Duration::from_millis(500);

/// Where the thread writes.
#[derive(Debug)]
pub(super) enum Sink {
    /// Standard error.
    Stderr,
    /// A file that others append to as well.
    File(Arc<Mutex<FileLog>>),
}

/// The queue.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    wake: Condvar,
    done: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<u8>,
    dropped: u64,
    flood: Flood,
    /// Whether the thread waits and must be woken.
    idle: bool,
    closed: bool,
    ended: bool,
}

impl Queue {
    /// Starts the thread.
    pub(super) fn start(sink: Sink) -> std::io::Result<Arc<Self>> {
        let queue = Arc::new(Self { state: Mutex::default(), wake: Condvar::new(), done: Condvar::new() });
        let served = Arc::clone(&queue);
        std::thread::Builder::new()
            .name("audit".to_owned())
            .stack_size(128 * 1024)
            .spawn(move || served.run(sink))?;
        Ok(queue)
    }

    /// Appends a line, or counts it: into a summary in a flood, as dropped where the queue is full.
    pub(super) fn push(&self, entry: &Entry<'_>) {
        let mut state = self.lock();
        if !entry.allowed && state.flood.judge(entry, Instant::now()) == Verdict::Counted {
            return;
        }
        let line = entry.line();
        if state.lines.len() + line.len() > CAPACITY {
            state.dropped += 1;
            return;
        }
        state.lines.extend_from_slice(line.as_bytes());
        if state.idle {
            state.idle = false;
            self.wake.notify_one();
        }
    }

    /// Stops the thread once it has written what waits; returns after `patience` at the latest.
    pub(super) fn close(&self, patience: Duration) {
        let mut state = self.lock();
        state.closed = true;
        self.wake.notify_one();
        let until = Instant::now() + patience;
        while !state.ended {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.done.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn run(&self, sink: Sink) {
        let mut batch = Vec::new();
        let mut lost = 0;
        loop {
            let closed = self.take(&mut batch, lost);
            if !batch.is_empty() {
                lost = if write(&sink, &batch) { 0 } else { lost + count_lines(&batch) };
                batch.clear();
            }
            if closed {
                self.lock().ended = true;
                self.done.notify_all();
                return;
            }
        }
    }

    /// Waits for lines and takes them. Says whether the queue is closed.
    fn take(&self, batch: &mut Vec<u8>, lost: u64) -> bool {
        let mut state = self.lock();
        if state.lines.is_empty() && !state.closed {
            state.idle = true;
            state = self.wake.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
            state.idle = false;
        }
        if !state.closed && !state.lines.is_empty() {
            drop(state);
            std::thread::sleep(GATHER);
            state = self.lock();
        }
        std::mem::swap(batch, &mut state.lines);
        let dropped = std::mem::take(&mut state.dropped) + lost;
        if dropped > 0 && (!batch.is_empty() || lost == 0 || state.closed) {
            let now = stamp(SystemTime::now());
            batch.extend_from_slice(
                format!("{{\"time\":\"{now}\",\"event\":\"dropped\",\"lines\":{dropped}}}\n").as_bytes(),
            );
        }
        let closed = state.closed;
        state.flood.collect(Instant::now(), closed, batch);
        closed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write(sink: &Sink, batch: &[u8]) -> bool {
    match sink {
        Sink::Stderr => std::io::stderr().lock().write_all(batch).is_ok(),
        Sink::File(log) => file::append(log, batch).is_ok(),
    }
}

fn count_lines(batch: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', batch).count() as u64
}
