//! The tasks that move lines between a process's pipes and its wire, until nothing of it is left.

use super::agent::{AgentProcess, Phase};
use super::logs::{LogSource, Logs};
use super::router::Router;
use crate::agents::acp::{Ended, Line, Lines, Outbox, Witness};
use crate::process::{Cursor, Job, Stream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of each output that may be on their way.
pub(super) const KEEP: usize = 1 << 20;

/// Longest line of standard error that is put together.
const STDERR_LINE: usize = 64 * 1024;

/// Writes down what is not a message, and tells of it; under `trace` it writes down what is one, too.
pub(super) struct Record {
    pub(super) logs: Arc<Logs>,
    pub(super) router: Arc<Router>,
    pub(super) trace: AtomicBool,
}

impl Record {
    fn frame(&self, stream: LogSource, line: &[u8]) {
        if self.trace.load(Ordering::Relaxed) {
            self.logs.push(stream, String::from_utf8_lossy(line).trim_end());
        }
    }
}

impl Witness for Record {
    fn noise(&self, text: &str, bytes: u64) {
        let kept = self.logs.push(LogSource::StdoutNoise, text);
        // What takes the place of a line is shorter than it.
        self.router.noise(&kept, bytes, text.len() as u64 >= bytes);
    }

    fn frame_in(&self, line: &[u8]) {
        self.frame(LogSource::FrameIn, line);
    }

    fn frame_out(&self, line: &[u8]) {
        self.frame(LogSource::FrameOut, line);
    }
}

/// Writes frames to the process, however slowly it reads.
pub(super) async fn write(job: Arc<Job>, mut outbox: Outbox) {
    let Some(input) = &job.input else { return };
    let mut sent = 0;
    while let Some(frame) = outbox.next().await {
        let end = sent + frame.len() as u64;
        let mut taken = sent;
        while taken < end {
            // An error is its end or a closed input; whoever waits for an answer is told by the task that reads.
            let Ok(now) = input.write(Some(sent), &frame).await else { return };
            taken = now;
        }
        sent = end;
    }
}

/// Reads until the process has ended, then tells everybody and sweeps up what it left.
pub(super) async fn read(process: Arc<AgentProcess>) {
    let job = Arc::clone(&process.job);
    let (mut changes, mut cursor) = (job.changes(), Cursor::default());
    let (mut messages, mut errors) = (Lines::default(), Lines::with_limit(STDERR_LINE));
    let mut lines = Vec::new();
    let said = |line: Line| {
        let _ = match line {
            Line::Whole(line) => process.logs.push(LogSource::Stderr, &String::from_utf8_lossy(&line)),
            Line::TooLong(length) => {
                process.logs.push(LogSource::Stderr, &format!("a line of {length} bytes was skipped"))
            }
        };
    };
    loop {
        changes.mark_unchanged();
        let progress = job.progress(&mut cursor, KEEP);
        for segment in &progress.segments {
            match segment.stream {
                Stream::Stderr => errors.push(&segment.data, said),
                Stream::Stdout => messages.push(&segment.data, |line| lines.push(line)),
            }
        }
        job.acknowledge(cursor.offsets);
        if progress.exit.is_some() {
            lines.extend(messages.finish());
            errors.finish().into_iter().for_each(said);
        }
        for line in lines.drain(..) {
            process.peer.receive(line).await;
        }
        process.router.settle().await;
        if progress.exit.is_some() {
            break;
        }
        if progress.segments.is_empty() {
            tokio::select! {
                _ = changes.changed() => {}
                () = process.router.somebody_attached() => {}
                () = process.router.noise_is_due() => {}
            }
        }
    }
    finish(&process).await;
}

/// The process has ended.
async fn finish(process: &Arc<AgentProcess>) {
    let exit = process.job.exit();
    let ended = Ended {
        exit_code: exit.and_then(|exit| exit.code),
        signal: exit.and_then(|exit| exit.signal),
        stopped: process.stopped.load(Ordering::Acquire) || exit.is_some_and(|exit| exit.reason.is_some()),
    };
    let _ = process.ended.set(ended.clone());
    process.advance(Phase::Dead);
    // A launcher that was killed leaves the agent itself running.
    let job = Arc::clone(&process.job);
    let left = tokio::task::spawn_blocking(move || job.family().len()).await.unwrap_or_default();
    if left > 0 {
        process.swept.store(left, Ordering::Release);
        process.engine.end_remains(&process.job).await;
    }
    let dropped = process.router.dropped();
    if dropped > 0 {
        process
            .logs
            .push(LogSource::StdoutNoise, &format!("{dropped} messages of unknown sessions were dropped"));
    }
    process.peer.close(&ended).await;
    process.gone.cancel();
}
