//! One worker: its process, the calls that it runs, and the two tasks that carry messages to it and from it.

use super::frame::{self, Decoder};
use super::manifest::Manifest;
use super::target::{BOOTSTRAP, Target};
use crate::log;
use crate::process::{Cursor, Engine, Full, Job, Kind, Launch, Owner, Reason, Screen, Stdin, Stream};
use rustix::fs::{Mode, OFlags};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// How long a worker may take to import its template.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of its output that may be on their way.
const KEEP: usize = 1 << 20;

/// How often a worker may take nothing of its input for five seconds before it counts as stuck.
const STALLS: u32 = 4;

/// How long the other calls of a worker that is given up may go on.
const LAST_CALLS: Duration = Duration::from_secs(300);

/// Longest line of its standard error that is shown.
const LINE: usize = 8192;

/// What a worker says about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// What a command returned.
    Result(Value),
    /// What a route returned: `{"status", "headers"}` with `json` or `bytes`.
    Response(Value),
    /// A stream begins: `{"status", "headers"}`.
    Stream(Value),
    /// One event of the stream.
    Text(String),
    /// The stream has ended.
    End,
    /// It raised.
    Raised {
        /// The exception's name.
        kind: String,
        /// Its text.
        message: String,
    },
    /// The worker has died.
    Gone,
}

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
    job: Arc<Job>,
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
    /// Whether the process has ended: no call can be answered any more.
    gone: bool,
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
        let job = spawn(engine).map_err(|error| format!("it did not start: {error}"))?;
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
        tokio::spawn(write(Arc::clone(&job), frames));
        tokio::spawn(read(Arc::clone(&worker), ready));
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
                if self.calls().open.is_empty() {
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
    fn deliver(&self, mut message: Value) {
        let Some(number) = message.get("id").and_then(Value::as_u64) else { return };
        let Some(event) = event(&mut message) else { return };
        if let Some(call) = self.calls().open.get(&number) {
            let _ = call.send(event);
        }
    }

    fn gone(&self) {
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

fn event(message: &mut Value) -> Option<Event> {
    let members = message.as_object_mut()?;
    let text =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some(result) = members.remove("result") {
        Some(Event::Result(result))
    } else if let Some(response) = members.remove("response") {
        Some(Event::Response(response))
    } else if let Some(error) = members.get("error") {
        Some(Event::Raised { kind: text(error, "type"), message: text(error, "message") })
    } else if let Some(Value::String(text)) = members.remove("event") {
        Some(Event::Text(text))
    } else if let Some(head) = members.remove("stream") {
        Some(Event::Stream(head))
    } else {
        members.contains_key("end").then_some(Event::End)
    }
}

/// Starts the process. Like every child it gets no secret, and like the server's own it starts where that did.
fn spawn(engine: &Arc<Engine>) -> Result<Arc<Job>, String> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(".", flags, Mode::empty()).map_err(|error| error.to_string())?;
    let program = engine.programs.find("python3", directory.as_fd()).map_err(|error| error.to_string())?;
    let environment =
        engine.environment.block(&BTreeMap::new(), |_| false).map_err(|error| error.to_string())?;
    let launch = Launch {
        program,
        title: "commands worker".to_owned(),
        arguments: ["python3", "-c", BOOTSTRAP].map(str::to_owned).to_vec(),
        environment,
        directory,
        input: Stdin::Open,
        screen: Screen::Pipes,
        keep: KEEP,
        full: Full::Pause,
        lifetime: None,
        kind: Kind::Call,
        owner: Owner::from("server"),
    };
    engine.spawn(launch).map_err(|error| error.to_string())
}

/// Writes messages to the process. One that takes nothing for long is ended: it runs no Python code any more.
async fn write(job: Arc<Job>, mut frames: mpsc::UnboundedReceiver<Vec<u8>>) {
    let Some(input) = &job.input else { return };
    let mut sent = 0;
    while let Some(frame) = frames.recv().await {
        let end = sent + frame.len() as u64;
        let (mut taken, mut stalls) = (sent, 0);
        while taken < end {
            let Ok(now) = input.write(Some(sent), &frame).await else { return };
            stalls = if now > taken { 0 } else { stalls + 1 };
            if stalls >= STALLS {
                log::say(format_args!("the commands worker is stuck and is replaced"));
                return job.end(Reason::Timeout);
            }
            taken = now;
        }
        sent = end;
    }
}

/// Reads messages and lines of standard error until the process has ended.
async fn read(worker: Arc<Worker>, ready: oneshot::Sender<Result<Manifest, String>>) {
    let job = Arc::clone(&worker.job);
    let (mut changes, mut cursor) = (job.changes(), Cursor::default());
    let (mut decoder, mut lines, mut ready) = (Decoder::default(), Lines::default(), Some(ready));
    'read: loop {
        let progress = job.progress(&mut cursor, KEEP);
        for segment in &progress.segments {
            match segment.stream {
                Stream::Stderr => lines.push(&segment.data),
                Stream::Stdout => decoder.push(&segment.data),
            }
        }
        job.acknowledge(cursor.offsets);
        loop {
            match decoder.next() {
                Ok(None) => break,
                Ok(Some(message)) => match first(&message).zip(ready.take()) {
                    Some((declared, ready)) => drop(ready.send(declared)),
                    None => worker.deliver(message),
                },
                Err(error) => {
                    log::say(format_args!("the commands worker broke its protocol and is replaced: {error}"));
                    job.end(Reason::Delete);
                    break 'read;
                }
            }
        }
        if progress.exit.is_some() {
            break;
        }
        if progress.segments.is_empty() {
            // The sender lives as long as the job.
            let _ = changes.changed().await;
        }
    }
    lines.finish();
    worker.gone();
}

/// The first message of a worker: what it declares, or why it cannot.
fn first(message: &Value) -> Option<Result<Manifest, String>> {
    if let Some(declared) = message.get("ready") {
        return Some(serde_json::from_value(declared.clone()).map_err(|error| error.to_string()));
    }
    let failed = message.get("failed")?;
    let text = |name: &str| failed.get(name).and_then(Value::as_str).unwrap_or_default();
    Some(Err(format!("importing failed: {}: {}", text("type"), text("message"))))
}

/// Lines of standard error on their way to the log.
#[derive(Debug, Default)]
struct Lines(Vec<u8>);

impl Lines {
    fn push(&mut self, piece: &[u8]) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.0.extend_from_slice(part);
            if part.ends_with(b"\n") || self.0.len() > LINE {
                self.finish();
            }
        }
    }

    fn finish(&mut self) {
        let line = std::mem::take(&mut self.0);
        let text = String::from_utf8_lossy(&line);
        if !text.trim_end().is_empty() {
            log::say(format_args!("commands: {}", text.trim_end()));
        }
    }
}
