//! One end of a wire: our requests and their answers, their requests and ours.

use super::inbox::{Asked, Ended, Inbox, Witness};
use super::lines::{Line, MAX_LINE};
use super::message::{self, Message, RpcFault, code};
use super::wait::Wait;
use bytes::Bytes;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Requests of the other side that may be open at once.
const MAX_ASKED: usize = 1024;

/// Bytes that may wait for a process that does not read its input.
const MAX_QUEUED: usize = 2 * MAX_LINE;

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RpcError {
    /// The other side says so.
    #[error("{0}")]
    Fault(RpcFault),
    /// It has not answered in time. The request counts as given up.
    #[error("the agent did not answer in time")]
    Timeout,
    /// It has ended.
    #[error("the agent has ended")]
    Closed,
    /// The request is longer than a line may be, or too much waits to be sent already.
    #[error("the request is too large")]
    TooLarge,
}

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

/// Frames on their way out.
#[derive(Debug)]
pub struct Outbox {
    frames: mpsc::UnboundedReceiver<Bytes>,
    queued: Arc<AtomicUsize>,
}

/// A request that has been sent. Dropped, its answer is not waited for any more.
pub struct Pending {
    peer: Arc<Peer>,
    id: u64,
    answer: oneshot::Receiver<Result<Value, RpcFault>>,
}

impl Outbox {
    /// The next frame, a line with its end; none when the peer is gone.
    pub async fn next(&mut self) -> Option<Bytes> {
        let frame = self.frames.recv().await?;
        self.queued.fetch_sub(frame.len(), Ordering::Relaxed);
        Some(frame)
    }
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
                return self.witness.noise(&format!("a line of {length} bytes was skipped"));
            }
        };
        let Some(message) = Message::read(&line) else {
            return self.witness.noise(&String::from_utf8_lossy(&line));
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
            None => self.witness.noise(&String::from_utf8_lossy(line)),
        }
    }

    fn asked(self: &Arc<Self>, asked: Asked) {
        let id = asked.id.clone();
        let cancelled = CancellationToken::new();
        {
            let mut state = self.state();
            if state.asked.len() >= MAX_ASKED {
                drop(state);
                return self.reply(&id, &Err(RpcFault::new(code::INTERNAL, "Too many open requests")));
            }
            state.asked.push((id.clone(), cancelled.clone()));
        }
        let answer = self.inbox.request(asked);
        let peer = Arc::clone(self);
        tokio::spawn(async move {
            let outcome = tokio::select! {
                biased;
                () = peer.closed.cancelled() => return,
                () = cancelled.cancelled() => Err(RpcFault::cancelled()),
                outcome = answer => outcome,
            };
            let open = {
                let mut state = peer.state();
                let place = state.asked.iter().position(|(open, _)| *open == id);
                place.map(|place| state.asked.swap_remove(place)).is_some()
            };
            // Cleared when the peer closed: then there is nobody to answer.
            if open {
                peer.reply(&id, &outcome);
            }
        });
    }

    fn cancelled(&self, id: &Value) {
        if let Some((_, token)) = self.state().asked.iter().find(|(open, _)| open == id) {
            token.cancel();
        }
    }

    fn reply(&self, id: &Value, outcome: &Result<Value, RpcFault>) {
        let fault = || Err(RpcFault::new(code::INTERNAL, "The answer is too large"));
        if self.send(message::answer(id, outcome)) == Err(RpcError::TooLarge) {
            let _ = self.send(message::answer(id, &fault()));
        }
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

impl Pending {
    /// Our id of the request.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Asks the other side to give the request up; its answer still comes, or does not.
    pub fn cancel(&self) {
        let _ = self.peer.notify("$/cancel_request", &json!({"requestId": self.id}));
    }

    /// Waits for the answer. May be called again after a timeout that is not meant as the end.
    ///
    /// # Errors
    /// See [`RpcError`].
    pub async fn wait(&mut self, wait: Wait) -> Result<Value, RpcError> {
        let over = wait.over(self.peer.heard.subscribe());
        tokio::select! {
            biased;
            answer = &mut self.answer => match answer {
                Ok(outcome) => outcome.map_err(RpcError::Fault),
                Err(_) => Err(RpcError::Closed),
            },
            () = over => Err(RpcError::Timeout),
        }
    }

    /// Waits for the answer, and cancels what is not answered in time.
    ///
    /// # Errors
    /// See [`RpcError`].
    pub async fn answer(mut self, wait: Wait) -> Result<Value, RpcError> {
        let answer = self.wait(wait).await;
        if answer == Err(RpcError::Timeout) {
            self.cancel();
        }
        answer
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.peer.state().pending.remove(&self.id);
    }
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer").field("in_flight", &self.in_flight()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pending").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
