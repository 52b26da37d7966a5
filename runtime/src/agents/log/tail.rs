//! The newest events in memory, shared by all who follow, and the bell that wakes them.

use super::Event;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// Most events held for each session that is followed, and for all together,
const MOST_EVENTS: usize = 4096;
/// and most bytes of them.
const MOST_BYTES: usize = 4 << 20;

/// Tails of all sessions that somebody follows.
#[derive(Debug, Default)]
pub(super) struct Tails {
    all: Arc<Tail>,
    sessions: Mutex<HashMap<Arc<str>, Arc<Tail>>>,
}

/// The newest events of one session, or of all.
#[derive(Debug, Default)]
pub(super) struct Tail {
    recent: Mutex<Recent>,
    newest: watch::Sender<i64>,
}

#[derive(Debug, Default)]
struct Recent {
    /// With its number in this tail.
    events: VecDeque<(i64, Arc<Event>)>,
    bytes: usize,
    /// Whether the session is gone.
    ended: bool,
}

impl Tails {
    pub(super) fn all(&self) -> Arc<Tail> {
        Arc::clone(&self.all)
    }

    pub(super) fn session(&self, session_id: &str) -> Arc<Tail> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tail) = sessions.get(session_id) {
            return Arc::clone(tail);
        }
        let tail = Arc::<Tail>::default();
        sessions.insert(session_id.into(), Arc::clone(&tail));
        tail
    }

    /// Shows events of one session that are on disk. Runs on the writing thread, so in the order of numbers.
    pub(super) fn publish(&self, events: &[Arc<Event>]) {
        let Some(first) = events.first() else { return };
        self.all.extend(events.iter().map(|event| (event.gseq, event)));
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(tail) = sessions.get(&first.session_id) else { return };
        if tail.newest.receiver_count() == 0 && Arc::strong_count(tail) == 1 {
            sessions.remove(&first.session_id);
            return;
        }
        tail.extend(events.iter().map(|event| (event.seq, event)));
    }

    pub(super) fn forget(&self, session_id: &str) {
        let gone = self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(session_id);
        if let Some(tail) = gone {
            tail.recent.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
            tail.newest.send_modify(|_| {});
        }
    }
}

impl Tail {
    pub(super) fn changes(&self) -> watch::Receiver<i64> {
        self.newest.subscribe()
    }

    pub(super) fn newest(&self) -> i64 {
        *self.newest.borrow()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).ended
    }

    /// The events behind `after`, where all of them are held; `None` sends the reader to the disk.
    pub(super) fn since(&self, after: i64, most: usize) -> Option<Vec<Arc<Event>>> {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let (oldest, _) = recent.events.front()?;
        if *oldest > after + 1 {
            return None;
        }
        let begin = recent.events.partition_point(|(number, _)| *number <= after);
        Some(recent.events.iter().skip(begin).take(most).map(|(_, event)| Arc::clone(event)).collect())
    }

    fn extend<'a>(&self, events: impl Iterator<Item = (i64, &'a Arc<Event>)>) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, event) in events {
            recent.bytes += event.size();
            recent.events.push_back((number, Arc::clone(event)));
        }
        while recent.events.len() > MOST_EVENTS || recent.bytes > MOST_BYTES {
            let Some((_, event)) = recent.events.pop_front() else { break };
            recent.bytes -= event.size();
        }
        if let Some((number, _)) = recent.events.back() {
            let number = *number;
            drop(recent);
            self.newest.send_replace(number);
        }
    }
}
