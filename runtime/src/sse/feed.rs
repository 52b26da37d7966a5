//! The event stream of one process: output as it comes, then how it ended, and the body ends right there.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::Stream as Frames;
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Lines, event, heartbeat};
use crate::process::{Cursor, Exit, Job, Reason, Stream};

/// Silence after which a comment is sent.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Output taken for one frame; with its framing about two to three times as much.
const FRAME: usize = 128 * 1024;

/// Which events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// The source document's: one event a line, `exit{exit_code}` or `error{error,type}` last.
    Lines {
        /// Whether events carry offsets.
        offsets: bool,
    },
    /// The data plane's: base64 with offsets, cut anywhere, nothing lost.
    Bytes,
}

/// What a stream is made of. Turn it into a body with [`Feed::frames`].
#[derive(Debug)]
pub struct Feed<K> {
    job: Arc<Job>,
    cursor: Cursor,
    style: Style,
    lines: Lines,
    changes: watch::Receiver<u64>,
    /// Whether what is sent counts as taken care of; else the caller acknowledges by coming back.
    acknowledge: bool,
    /// What the caller has acknowledged by coming here.
    acknowledged: [u64; 2],
    /// The id that the caller knows the command by.
    command_id: Option<String>,
    stopping: CancellationToken,
    state: State,
    /// Dropped with the stream: what is to happen when the caller goes away.
    _keep: K,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Fresh,
    Live,
    Done,
}

impl<K: Send + 'static> Feed<K> {
    /// A stream of `job` from a place on. `keep` is dropped when the stream ends or its reader goes away.
    #[must_use]
    pub fn new(job: Arc<Job>, from: [u64; 2], style: Style, stopping: CancellationToken, keep: K) -> Self {
        let changes = job.changes();
        let [stdout, stderr] = from;
        let offsets = matches!(style, Style::Lines { offsets: true });
        Self {
            job,
            cursor: Cursor::at(stdout, stderr),
            style,
            lines: Lines::new(offsets),
            changes,
            acknowledge: true,
            acknowledged: from,
            command_id: None,
            stopping,
            state: State::Fresh,
            _keep: keep,
        }
    }

    /// Leaves it to the caller to acknowledge, and names the command in the first event.
    #[must_use]
    pub fn resumable(mut self, command_id: String) -> Self {
        self.acknowledge = false;
        self.command_id = Some(command_id);
        self
    }

    /// The pieces of the body.
    pub fn frames(self) -> impl Frames<Item = Result<Bytes, std::convert::Infallible>> + Send + 'static {
        futures_util::stream::unfold(self, |mut feed| async move {
            let frame = feed.next().await?;
            Some((Ok(frame), feed))
        })
    }

    async fn next(&mut self) -> Option<Bytes> {
        if self.state == State::Fresh {
            self.state = State::Live;
            if self.style == Style::Bytes {
                let mut out = Vec::new();
                event(&mut out, "started", &json!({"command_id": self.command_id, "pid": self.job.pid}));
                return Some(out.into());
            }
        }
        if self.state == State::Done {
            return None;
        }
        loop {
            // Seen before the log is read, so that what comes in between wakes us.
            self.changes.mark_unchanged();
            let progress = self.job.progress(&mut self.cursor, FRAME);
            let mut out = Vec::new();
            for segment in &progress.segments {
                match self.style {
                    Style::Lines { .. } => self.lines.segment(&mut out, segment),
                    Style::Bytes => {
                        let data = STANDARD.encode(&segment.data);
                        event(
                            &mut out,
                            stream_name(segment.stream),
                            &json!({"data": data, "offset": segment.offset}),
                        );
                    }
                }
            }
            if self.acknowledge && !progress.segments.is_empty() {
                self.job.acknowledge(self.cursor.offsets);
            }
            if let Some(exit) = progress.exit {
                self.state = State::Done;
                self.last(&mut out, exit);
                return Some(out.into());
            }
            if !out.is_empty() {
                return Some(out.into());
            }
            if !progress.segments.is_empty() {
                continue;
            }
            // A caller who has acknowledged all that it was sent can do no more: another reader has to.
            if progress.full && !self.acknowledge && self.cursor.offsets != self.acknowledged {
                self.state = State::Done;
                let [stdout, stderr] = self.cursor.offsets;
                let offsets = json!({"stdout_offset": stdout, "stderr_offset": stderr});
                self.lines.finish(&mut out);
                event(&mut out, "ack_required", &offsets);
                return Some(out.into());
            }
            tokio::select! {
                _ = self.changes.changed() => {}
                () = tokio::time::sleep(HEARTBEAT) => return Some(heartbeat()),
                () = self.stopping.cancelled(), if self.command_id.is_some() => {
                    self.state = State::Done;
                    event(&mut out, "error", &self.error("ServerShuttingDown", "the server is stopping".to_owned()));
                    return Some(out.into());
                }
            }
        }
    }

    /// The last events.
    fn last(&mut self, out: &mut Vec<u8>, exit: Exit) {
        self.lines.finish(out);
        if self.style == Style::Bytes {
            for (stream, offset) in ["stdout", "stderr"].iter().zip(self.cursor.offsets) {
                event(out, "stream_end", &json!({"stream": stream, "offset": offset}));
            }
        }
        let cut = |kind, text: &str| Some((kind, text.to_owned()));
        let error = match (exit.reason, self.style) {
            (Some(Reason::Timeout), Style::Lines { .. }) => {
                cut("TimeoutError", "the command ran out of time")
            }
            (Some(Reason::Timeout), Style::Bytes) => cut("CommandTimeout", "the command ran out of time"),
            (Some(Reason::Idle), _) => {
                cut("SessionExpired", "nobody was attached to the command for too long")
            }
            (Some(Reason::Shutdown), _) => cut("ServerShuttingDown", "the server is stopping"),
            _ => None,
        };
        match error {
            Some((kind, text)) => event(out, "error", &self.error(kind, text)),
            None => match exit.signal {
                Some(signal) => event(out, "exit", &json!({"exit_code": exit.exit_code(), "signal": signal})),
                None => event(out, "exit", &json!({"exit_code": exit.exit_code()})),
            },
        }
    }

    fn error(&self, kind: &str, text: String) -> serde_json::Value {
        match self.style {
            Style::Lines { .. } => json!({"error": text, "type": kind}),
            Style::Bytes => json!({"error_type": kind, "error": text}),
        }
    }
}

fn stream_name(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    }
}
