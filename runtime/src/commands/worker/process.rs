//! One worker and the calls that it runs.

use super::event::Event;
use super::frame;
use super::manifest::Manifest;
use super::target::Target;
use super::wire;
use crate::process::{Engine, Job, Reason};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// How long a worker may take to import its template.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the other calls of a worker that is given up may go on.
const LAST_CALLS: Duration = Duration::from_secs(300);

/// Why a call did not reach a worker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// None runs, and none has started in time.
    #[error("The commands worker is not running")]
    NotRunning,
    /// The call is too large for a message.
    #[error("The call is too large")]
    TooLarge,
}

/// A worker.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) job: Arc<Job>,
    outbox: mpsc::UnboundedSender<Vec<u8>>,
    calls: Mutex<Calls>,
    next: AtomicU64,
    /// A call has ended.
    fewer: Notify,
    /// Cancelled when it shall get no more calls.
    retired: CancellationToken,
}

/// A call with its number.
#[derive(Serialize)]
struct Numbered<'a> {
    id: u64,
    #[serde(flatten)]
    call: &'a Value,
}

#[derive(Debug, Default)]
struct Calls {
    open: HashMap<u64, mpsc::UnboundedSender<Event>>,
    /// Whether the process has ended, or is just about to be: no call can be answered any more.
    gone: bool,
}

impl Calls {
    /// Takes no more calls where none is under way.
    fn closed_if_quiet(&mut self) -> bool {
        self.gone |= self.open.is_empty();
        self.gone
    }
}

/// A call under way. Dropped, it is cancelled.
#[derive(Debug)]
pub struct Pending {
    worker: Arc<Worker>,
    number: u64,
    events: mpsc::UnboundedReceiver<Event>,
    ended: bool,
}

impl Worker {
    /// Starts one and waits until it has imported the template.
    pub(super) async fn start(
        engine: &Arc<Engine>,
        target: &Target,
        manifest: &Manifest,
    ) -> Result<Arc<Self>, String> {
        let job = wire::spawn(engine).map_err(|error| format!("it did not start: {error}"))?;
        let (outbox, frames) = mpsc::unbounded_channel();
        let worker = Arc::new(Self {
            job: Arc::clone(&job),
            outbox,
            calls: Mutex::default(),
            next: AtomicU64::new(0),
            fewer: Notify::new(),
            retired: CancellationToken::new(),
        });
        let (ready, declared) = oneshot::channel();
        tokio::spawn(wire::write(Arc::clone(&job), frames));
        tokio::spawn(wire::read(Arc::clone(&worker), ready));
        let start = target.start().map_err(|error| error.to_string())?;
        // The task that writes lives as long as the process.
        let _ = worker.outbox.send(start);
        let ready = match tokio::time::timeout(PATIENCE, declared).await {
            Ok(Ok(ready)) => ready,
            Ok(Err(_)) => Err("its process ended".to_owned()),
            Err(_) => Err(format!("importing took longer than {} seconds", PATIENCE.as_secs())),
        };
        match ready {
            Ok(declared) if declared == *manifest => Ok(worker),
            Ok(_) => {
                job.end(Reason::Delete);
                Err("it declares something else than when the server started".to_owned())
            }
            Err(why) => {
                job.end(Reason::Delete);
                Err(why)
            }
        }
    }

    /// Whether it may get calls.
    pub(super) fn is_open(&self) -> bool {
        !self.retired.is_cancelled() && !self.calls().gone
    }

    /// Sends a call; `call` lacks only its number. None where the process has ended.
    pub(super) fn call(self: &Arc<Self>, call: &Value) -> Result<Option<Pending>, WorkerError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let frame = frame::encode(&Numbered { id: number, call }).map_err(|_| WorkerError::TooLarge)?;
        let (sender, events) = mpsc::unbounded_channel();
        {
            let mut calls = self.calls();
            if calls.gone {
                return Ok(None);
            }
            calls.open.insert(number, sender);
        }
        let _ = self.outbox.send(frame);
        Ok(Some(Pending { worker: Arc::clone(self), number, events, ended: false }))
    }

    /// Returns when it shall be replaced: it has ended, or has been given up.
    pub(super) async fn over(&self) {
        tokio::select! {
            _ = self.job.ended() => {}
            () = self.retired.cancelled() => {}
        }
    }

    /// Ends the process once its other calls are done. Nothing where it has ended already.
    pub(super) async fn finish(self: Arc<Self>) {
        let quiet = async {
            loop {
                let fewer = self.fewer.notified();
                if self.calls().closed_if_quiet() {
                    return;
                }
                fewer.await;
            }
        };
        let _ = tokio::time::timeout(LAST_CALLS, quiet).await;
        self.job.end(Reason::Timeout);
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, message: &Value) {
        if let Ok(frame) = frame::encode(message) {
            let _ = self.outbox.send(frame);
        }
    }

    /// Hands a message to the call that it is about; what no call waits for is dropped.
    pub(super) fn deliver(&self, mut message: Value) {
        let Some(number) = message.get("id").and_then(Value::as_u64) else { return };
        let Some(event) = Event::of(&mut message) else { return };
        if let Some(call) = self.calls().open.get(&number) {
            let _ = call.send(event);
        }
    }

    /// The process has ended: no call is answered any more.
    pub(super) fn gone(&self) {
        let mut calls = self.calls();
        calls.gone = true;
        for (_, call) in calls.open.drain() {
            let _ = call.send(Event::Gone);
        }
        self.fewer.notify_one();
    }
}

impl Pending {
    /// What the worker says next.
    pub async fn next(&mut self) -> Event {
        let event = self.events.recv().await.unwrap_or(Event::Gone);
        self.ended = !matches!(event, Event::Stream(_) | Event::Text(_));
        event
    }

    /// Lets the worker send so many more events of a stream.
    pub fn more(&self, events: u32) {
        self.worker.send(&json!({"id": self.number, "more": events}));
    }

    /// Gives the call up because it has taken too long. Its thread cannot be ended, so the worker is replaced.
    pub fn give_up(self) {
        self.worker.retired.cancel();
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.worker.calls().open.remove(&self.number);
        self.worker.fewer.notify_one();
        if !self.ended {
            self.worker.send(&json!({"id": self.number, "cancel": true}));
        }
    }
}
