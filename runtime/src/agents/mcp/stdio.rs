//! An MCP server as a child of the process engine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use rustix::fs::{Mode, OFlags};
use serde_json::Value;

use super::check::{Failed, Found, Line, Why, talk};
use crate::agents::acp::{Ended, Lines, Outbox, Peer, RpcError, Stranger, Wait, Witness};
use crate::agents::process::{Judge, Recipe, Workplace};
use crate::app::App;
use crate::error::{ApiError, ErrorCode};
use crate::process::{Cursor, EndOnDrop, Full, Job, Kind, Launch, Owner, Screen, Stdin, Stream, masking};

/// Bytes of each output that may be on their way.
const KEEP: usize = 1 << 20;

/// How much of the end of its standard error is told, in bytes.
const TAIL: usize = 4096;

struct Quiet;

impl Witness for Quiet {
    fn noise(&self, _text: &str, _bytes: u64) {}
    fn frame_in(&self, _line: &[u8]) {}
    fn frame_out(&self, _line: &[u8]) {}
}

struct Wire(Arc<Peer>);

impl Line for Wire {
    fn ask<'a>(&'a mut self, method: &'a str, params: Value) -> BoxFuture<'a, Result<Value, Why>> {
        Box::pin(async move {
            self.0.request(method, &params, Wait::FOREVER).await.map_err(|error| match error {
                RpcError::Fault(fault) => Why::Broken(format!("the server refused: {}", fault.message)),
                RpcError::Timeout => Why::TimedOut,
                RpcError::Closed => Why::Broken("the server ended".to_owned()),
                RpcError::TooLarge => Why::Broken("the request is too large".to_owned()),
            })
        })
    }

    fn tell<'a>(&'a mut self, method: &'a str) -> BoxFuture<'a, Result<(), Why>> {
        let told = self.0.notify(method, &serde_json::json!({}));
        Box::pin(std::future::ready(told.map_err(|_| Why::Broken("the server ended".to_owned()))))
    }
}

/// Starts the server in the base directory, asks it, and ends it.
pub(super) async fn check(
    app: &Arc<App>,
    judge: &Judge,
    command: &str,
    args: &[String],
    env: BTreeMap<String, String>,
    time: Duration,
) -> Result<Found, Failed> {
    let job = start(app, judge, command, args, env).map_err(Why::Refused)?;
    let _end = EndOnDrop(Arc::clone(&job));
    let (peer, outbox) = Peer::open(Arc::new(Stranger), Arc::new(Quiet));
    let tail = Mutex::new(Vec::new());
    let mut wire = Wire(Arc::clone(&peer));
    let outcome = tokio::select! {
        outcome = talk(&mut wire) => outcome,
        () = read(&job, &peer, &tail) => Err(Why::Broken("the server ended before it answered".to_owned())),
        () = write(&job, outbox) => Err(Why::Broken("the server took no more input".to_owned())),
        () = tokio::time::sleep(time) => Err(Why::TimedOut),
    };
    let tail = tail.into_inner().unwrap_or_else(PoisonError::into_inner);
    let tail = app.agents.masks.mask(&String::from_utf8_lossy(&tail)).into_owned();
    let stderr_tail = Some(tail).filter(|tail| !tail.is_empty());
    match outcome {
        Ok(found) => Ok(Found { stderr_tail, ..found }),
        Err(why) => Err(Failed { why, stderr_tail }),
    }
}

fn start(
    app: &App,
    judge: &Judge,
    command: &str,
    args: &[String],
    env: BTreeMap<String, String>,
) -> Result<Arc<Job>, ApiError> {
    let engine = &app.processes;
    let base = String::from_utf8_lossy(judge.state.guard.base_dir()).into_owned();
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let handle = rustix::fs::open(&*base, flags, Mode::empty())
        .map_err(|_| ApiError::internal("The base directory cannot be opened"))?;
    let place = Workplace { handle, path: base };
    let program = judge.program(engine, command, &place).map_err(|error| {
        let missing = ApiError::new(ErrorCode::McpCheckFailed, "The program is not there");
        if let crate::agents::process::StartError::Refused(refused) = error { refused } else { missing }
    })?;
    let recipe = Recipe { env, ..Recipe::default() };
    let environment = judge.environment(engine, &recipe, &place).map_err(|error| match error {
        crate::agents::process::StartError::Refused(refused) => refused,
        error => ApiError::new(ErrorCode::InvalidServer, error.to_string()),
    })?;
    let words: Vec<String> = std::iter::once(command.to_owned()).chain(args.iter().cloned()).collect();
    let launch = Launch {
        program,
        title: masking::display(&words),
        arguments: words,
        environment,
        directory: place.handle,
        input: Stdin::Open,
        screen: Screen::Pipes,
        keep: KEEP,
        full: Full::Pause,
        lifetime: None,
        kind: Kind::Call,
        owner: Owner::from("agents"),
    };
    engine.spawn(launch).map_err(|error| ApiError::new(ErrorCode::McpCheckFailed, error.to_string()))
}

/// Hands what the server says to the peer, until it ends.
async fn read(job: &Arc<Job>, peer: &Arc<Peer>, tail: &Mutex<Vec<u8>>) {
    let (mut changes, mut cursor, mut lines) = (job.changes(), Cursor::default(), Lines::default());
    loop {
        changes.mark_unchanged();
        let progress = job.progress(&mut cursor, KEEP);
        let mut said = Vec::new();
        for segment in &progress.segments {
            match segment.stream {
                Stream::Stdout => lines.push(&segment.data, |line| said.push(line)),
                Stream::Stderr => keep_tail(tail, &segment.data),
            }
        }
        job.acknowledge(cursor.offsets);
        for line in said {
            peer.receive(line).await;
        }
        if progress.exit.is_some() {
            peer.close(&Ended::default()).await;
            return;
        }
        if progress.segments.is_empty() {
            // The sender lives as long as the job.
            let _ = changes.changed().await;
        }
    }
}

fn keep_tail(tail: &Mutex<Vec<u8>>, more: &[u8]) {
    let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
    tail.extend_from_slice(more);
    let over = tail.len().saturating_sub(TAIL);
    tail.drain(..over);
}

/// Writes frames to the server, however slowly it reads.
async fn write(job: &Arc<Job>, mut outbox: Outbox) {
    let Some(input) = &job.input else { return };
    let mut sent = 0;
    while let Some(frame) = outbox.next().await {
        let end = sent + frame.len() as u64;
        let mut taken = sent;
        while taken < end {
            // An error is its end; the reader tells why.
            let Ok(now) = input.write(Some(sent), &frame).await else { return std::future::pending().await };
            taken = now;
        }
        sent = end;
    }
}
