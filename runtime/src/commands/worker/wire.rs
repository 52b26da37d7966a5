//! The process of a worker and its pipes: messages one way, messages and lines of standard error the other.

use super::frame::Decoder;
use super::manifest::Manifest;
use super::process::Worker;
use super::target::BOOTSTRAP;
use crate::log;
use crate::process::{Cursor, Engine, Full, Job, Kind, Launch, Owner, Reason, Screen, Stdin, Stream};
use rustix::fs::{Mode, OFlags};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Bytes of its output that may be on their way.
const KEEP: usize = 1 << 20;

/// How often a worker may take nothing of its input for five seconds before it counts as stuck.
const STALLS: u32 = 4;

/// Longest line of its standard error that is shown.
const LINE: usize = 8192;

/// Starts the process. Like every child it gets no secret, and like the server's own it starts where that did.
pub(super) fn spawn(engine: &Arc<Engine>) -> Result<Arc<Job>, String> {
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
pub(super) async fn write(job: Arc<Job>, mut frames: mpsc::UnboundedReceiver<Vec<u8>>) {
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
pub(super) async fn read(worker: Arc<Worker>, ready: oneshot::Sender<Result<Manifest, String>>) {
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
