//! One end of a wire: our requests and their answers, their requests and ours.
//!
//! - `pending`: a request of ours that is open
//! - `asked`: requests of the other side, and our answers
//! - `outbox`: frames on their way out

mod asked;
mod outbox;
mod pending;

pub use outbox::Outbox;
pub use pending::{Pending, RpcError};

use super::inbox::{Asked, Ended, Inbox, Witness};
use super::lines::{Line, MAX_LINE};
use super::message::{self, Message, RpcFault, code};
use super::wait::Wait;
use bytes::Bytes;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Bytes that may wait for a process that does not read its input.
const MAX_QUEUED: usize = 2 * MAX_LINE;

/// One end of a wire.
pub struct Peer {
    outbox: mpsc::UnboundedSender<Bytes>,
    queued: Arc<AtomicUsize>,
    inbox: Arc<dyn Inbox>,
    witness: Arc<dyn Witness>,
    state: Mutex<State>,
    heard: watch::Sender<Instant>,
    closed: CancellationToken,
}

#[derive(Default)]
struct State {
    /// The id of the last request.
    last: u64,
    /// Ours, by id.
    pending: HashMap<u64, oneshot::Sender<Result<Value, RpcFault>>>,
    /// Theirs, by id.
    asked: Vec<(Value, CancellationToken)>,
    closed: bool,
}

impl Peer {
    /// A peer, and what it wants to be sent.
    #[must_use]
    pub fn open(inbox: Arc<dyn Inbox>, witness: Arc<dyn Witness>) -> (Arc<Self>, Outbox) {
        let (outbox, frames) = mpsc::unbounded_channel();
        let queued = Arc::new(AtomicUsize::new(0));
        let peer = Self {
            outbox,
            queued: Arc::clone(&queued),
            inbox,
            witness,
            state: Mutex::default(),
            heard: watch::Sender::new(Instant::now()),
            closed: CancellationToken::new(),
        };
        (Arc::new(peer), Outbox { frames, queued })
    }

    /// Asks and waits for the answer.
    ///
    /// # Errors
    /// See [`RpcError`]. One that ran out of time is cancelled, as far as the other side cares.
    pub async fn request(
        self: &Arc<Self>,
        method: &str,
        params: &Value,
        wait: Wait,
    ) -> Result<Value, RpcError> {
        self.ask(method, params)?.answer(wait).await
    }

    /// Asks; the answer is waited for later.
    ///
    /// # Errors
    /// [`RpcError::Closed`] and [`RpcError::TooLarge`].
    pub fn ask(self: &Arc<Self>, method: &str, params: &Value) -> Result<Pending, RpcError> {
        let (sender, answer) = oneshot::channel();
        let id = {
            let mut state = self.state();
            if state.closed {
                return Err(RpcError::Closed);
            }
            // From 1: an answer to nothing in particular is more likely to name 0.
            state.last += 1;
            let id = state.last;
            state.pending.insert(id, sender);
            id
        };
        let pending = Pending { peer: Arc::clone(self), id, answer };
        self.send(message::request(id, method, params))?;
        Ok(pending)
    }

    /// Tells.
    ///
    /// # Errors
    /// [`RpcError::Closed`] and [`RpcError::TooLarge`].
    pub fn notify(&self, method: &str, params: &Value) -> Result<(), RpcError> {
        if self.is_closed() {
            return Err(RpcError::Closed);
        }
        self.send(message::notification(method, params))
    }

    /// Takes a line of the other side. Returns when whoever listens has taken what it says.
    pub async fn receive(self: &Arc<Self>, line: Line) {
        self.heard.send_replace(Instant::now());
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong(length) => {
                return self.witness.noise(&format!("a line of {length} bytes was skipped"), length);
            }
        };
        let Some(message) = Message::read(&line) else {
            return self.noise(&line);
        };
        self.witness.frame_in(&line);
        match message {
            Message::Answer { id, outcome } => self.answered(&id, outcome, &line),
            Message::Notification { method, params } if method == "$/cancel_request" => {
                self.cancelled(params.get("requestId").unwrap_or(&Value::Null));
            }
            Message::Notification { method, params } => self.inbox.notification(&method, params).await,
            Message::Request { id, method, params } => self.asked(Asked { id, method, params }),
            Message::Broken { id } => {
                self.reply(&id, &Err(RpcFault::new(code::INVALID_REQUEST, "The method is no text")));
            }
        }
    }

    /// The other side has ended: every open request ends, both ways, and whoever listens is told.
    pub async fn close(&self, ended: &Ended) {
        {
            let mut state = self.state();
            if state.closed {
                return;
            }
            state.closed = true;
            state.pending.clear();
            state.asked.clear();
        }
        self.closed.cancel();
        self.inbox.closed(ended).await;
    }

    /// Whether the other side has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Our requests that wait for an answer.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.state().pending.len()
    }

    /// How long ago the other side last said anything.
    #[must_use]
    pub fn silent_for(&self) -> std::time::Duration {
        self.heard.borrow().elapsed()
    }

    fn answered(&self, id: &Value, outcome: Result<Value, RpcFault>, line: &[u8]) {
        let waiting = id.as_u64().and_then(|id| self.state().pending.remove(&id));
        match waiting {
            // Whoever asked may have gone meanwhile.
            Some(waiting) => drop(waiting.send(outcome)),
            None => self.noise(line),
        }
    }

    fn noise(&self, line: &[u8]) {
        self.witness.noise(&String::from_utf8_lossy(line), line.len() as u64);
    }

    fn send(&self, line: Vec<u8>) -> Result<(), RpcError> {
        let queued = self.queued.load(Ordering::Relaxed);
        if line.len() > MAX_LINE || queued + line.len() > MAX_QUEUED {
            return Err(RpcError::TooLarge);
        }
        self.witness.frame_out(&line);
        self.queued.fetch_add(line.len(), Ordering::Relaxed);
        self.outbox.send(line.into()).map_err(|_| RpcError::Closed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer").field("in_flight", &self.in_flight()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
