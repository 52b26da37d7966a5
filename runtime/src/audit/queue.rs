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
        // What could not be written stays here and is tried again; meanwhile lines wait in the queue, and where that is
        // full they are counted.
        let mut batch = Vec::new();
        loop {
            let closed = self.take(&mut batch);
            if !batch.is_empty() {
                let written = write(&sink, &batch);
                batch.drain(..written.min(batch.len()));
            }
            if closed {
                self.lock().ended = true;
                self.done.notify_all();
                return;
            }
            if !batch.is_empty() {
                self.pause();
            }
        }
    }

    /// Waits for lines and takes them, unless the last could not be written. Says whether the queue is closed.
    fn take(&self, batch: &mut Vec<u8>) -> bool {
        let mut state = self.lock();
        if !batch.is_empty() {
            if state.closed {
                batch.append(&mut state.lines);
                state.account(batch);
            }
            return state.closed;
        }
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
        state.account(batch);
        state.closed
    }

    /// Waits before the next attempt; a queue that is closed waits no more.
    fn pause(&self) {
        let state = self.lock();
        if !state.closed {
            let _ = self.wake.wait_timeout(state, TICK);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Appends what is known of lines that were not written one by one: how many found no room, and summaries.
    fn account(&mut self, batch: &mut Vec<u8>) {
        let dropped = std::mem::take(&mut self.dropped);
        if dropped > 0 {
            let now = stamp(SystemTime::now());
            let line = format!("{{\"time\":\"{now}\",\"event\":\"dropped\",\"lines\":{dropped}}}\n");
            batch.extend_from_slice(line.as_bytes());
        }
        self.flood.collect(Instant::now(), self.closed, batch);
    }
}

/// Writes lines and says how many bytes need not be written again.
fn write(sink: &Sink, batch: &[u8]) -> usize {
    match sink {
        // How much of it a broken stderr took cannot be known; nobody reads it.
        Sink::Stderr => {
            let _ = std::io::stderr().lock().write_all(batch);
            batch.len()
        }
        Sink::File(log) => file::append(log, batch).map_or_else(|unwritten| unwritten.kept, |()| batch.len()),
    }
}
