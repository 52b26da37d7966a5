//! Output as text frames, its acknowledgement, and how the command ended.

use std::borrow::Cow;
use std::time::Duration;

use axum::extract::ws::Message;
use futures_util::SinkExt as _;
use tokio::time::timeout;

use super::{Close, Line, Sink, code, protocol};
use crate::process::resumable::TextPlace;
use crate::process::{Cursor, Exit, Reason, Segment, Stream};
use crate::websocket::Pulse;

/// Output taken at once, in bytes. With the read that goes beyond it, twice that; escaped, less than 1 MiB.
const FRAME: usize = 64 * 1024;

/// How long a client may take for one frame before it counts as gone.
const SLOW: Duration = Duration::from_secs(60);

/// Tells the client what the command prints. Ends when the command has, or with `None` when the client has gone.
pub(super) async fn speak(sink: &mut Sink, line: &Line) -> Close {
    let (attachment, job) = (&line.opened.attachment, &line.opened.attachment.job);
    send(sink, protocol::started(&line.opened.command_id, job.pid)).await?;
    let mut changes = job.changes();
    let mut out = Output::at(&line.opened.place);
    let (mut number, mut sent) = (0, 0);
    let often = job.log().capacity() / 8;
    let mut beat = Pulse::beat();
    loop {
        // Seen before the log is read, so that what comes in between wakes us.
        changes.mark_unchanged();
        if out.is_overtaken(job) {
            // Another reader has freed what we had not read: go on with what is kept.
            out = Output::at(&attachment.text_place(out.text()).ok()?);
        }
        let progress = job.progress(&mut out.cursor, FRAME);
        for (stream, bytes) in joined(&progress.segments) {
            sent += bytes.len();
            if let Some((offset, text)) = out.lane(stream).feed(&bytes) {
                let frame = protocol::output(stream, &text, offset);
                line.note.carried(0, frame.len() as u64);
                send(sink, frame).await?;
            }
        }
        if let Some(exit) = progress.exit {
            return last(sink, &mut out, exit).await;
        }
        if sent > 0 && (sent >= often || progress.full) {
            number += 1;
            sent = 0;
            ping(sink, line, number, out.safe()).await?;
        }
        if !progress.segments.is_empty() {
            continue;
        }
        tokio::select! {
            _ = changes.changed() => {}
            due = line.pulse.due(&mut beat) => {
                if let Err(silent) = due {
                    return Some(silent);
                }
                number += 1;
                ping(sink, line, number, out.safe()).await?;
            }
        }
    }
}

/// Sends one text frame; `None` when the client is gone or as good as gone.
pub(super) async fn send(sink: &mut Sink, text: String) -> Option<()> {
    timeout(SLOW, sink.send(Message::Text(text.into()))).await.ok()?.ok()
}

async fn ping(sink: &mut Sink, line: &Line, number: u64, offsets: [u64; 2]) -> Option<()> {
    line.pinged(number, offsets);
    let payload = number.to_be_bytes().to_vec();
    timeout(SLOW, sink.send(Message::Ping(payload.into()))).await.ok()?.ok()
}

/// The last frames.
async fn last(sink: &mut Sink, out: &mut Output, exit: Exit) -> Close {
    for stream in [Stream::Stdout, Stream::Stderr] {
        if let Some((offset, text)) = out.lane(stream).finish() {
            send(sink, protocol::output(stream, &text, offset)).await?;
        }
    }
    let frame = match exit.reason {
        // The client comes back at once, and learns then what became of the command.
        Some(Reason::Shutdown) => return Some((code::GOING_AWAY, "the server is stopping")),
        Some(Reason::Timeout) => protocol::error("CommandTimeout", "the command ran out of time"),
        Some(Reason::Idle) => {
            protocol::error("SessionExpired", "nobody was attached to the command for too long")
        }
        Some(Reason::Disconnect | Reason::Delete) | None => protocol::exit(exit.exit_code()),
    };
    send(sink, frame).await?;
    Some((code::NORMAL, ""))
}

/// A reader's place in both streams, as bytes and as text.
#[derive(Debug)]
struct Output {
    cursor: Cursor,
    decoders: [crate::process::text::Decoder; 2],
}

impl Output {
    fn at(place: &TextPlace) -> Self {
        let [stdout, stderr] = place.from;
        Self { cursor: Cursor::at(stdout, stderr), decoders: place.decoders.clone() }
    }

    fn lane(&mut self, stream: Stream) -> &mut crate::process::text::Decoder {
        let [stdout, stderr] = &mut self.decoders;
        if stream == Stream::Stdout { stdout } else { stderr }
    }

    fn text(&self) -> [u64; 2] {
        let [stdout, stderr] = &self.decoders;
        [stdout.offset(), stderr.offset()]
    }

    /// The byte offsets before which everything has been sent.
    fn safe(&self) -> [u64; 2] {
        let ([a, b], [stdout, stderr]) = (self.cursor.offsets, &self.decoders);
        [a.saturating_sub(stdout.held()), b.saturating_sub(stderr.held())]
    }

    fn is_overtaken(&self, job: &crate::process::Job) -> bool {
        let log = job.log();
        let [stdout, stderr] = self.cursor.offsets;
        log.first(Stream::Stdout) > stdout || log.first(Stream::Stderr) > stderr
    }
}

/// Neighbours of one stream as one piece: a frame costs more than a copy.
fn joined(segments: &[Segment]) -> Vec<(Stream, Cow<'_, [u8]>)> {
    let mut pieces: Vec<(Stream, Cow<'_, [u8]>)> = Vec::new();
    for segment in segments {
        match pieces.last_mut() {
            Some((stream, bytes)) if *stream == segment.stream => {
                bytes.to_mut().extend_from_slice(&segment.data);
            }
            _ => pieces.push((segment.stream, Cow::Borrowed(&segment.data))),
        }
    }
    pieces
}
