//! The loop between a socket and a session: output one way, what the client says the other way.

use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::timeout;

use super::protocol::{self, Said};
use super::session::Attached;
use crate::endpoint::Parting;
use crate::process::{Cursor, Stream};
use crate::sse::whole;
use crate::websocket::{self, Pulse, Until};

/// Largest message of a client, in bytes.
pub const MAX_MESSAGE: usize = 1 << 20;

/// Bytes read of a client at once: it types.
pub const READ: usize = 4096;

/// Output of one frame, in bytes; escaped it may be six times as long.
const FRAME: usize = 64 * 1024;

/// How long a client may take for one frame before it counts as gone.
const SLOW: Duration = Duration::from_secs(60);

/// The status codes that a socket is closed with.
mod code {
    pub(super) const NORMAL: u16 = 1000;
    pub(super) const UNSUPPORTED: u16 = 1003;
    pub(super) const TAKEN_OVER: u16 = 4001;
}

/// What the caller's rules say of a socket.
pub struct Rules {
    /// Whether a signal may be sent.
    pub signal: Box<dyn Fn(u8) -> bool + Send + Sync>,
    /// What ends the socket from outside.
    pub(crate) until: Until,
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules").field("until", &self.until).finish_non_exhaustive()
    }
}

/// Serves a socket until either side has had enough. `offset`: where in the scrollback to begin.
pub async fn serve(socket: WebSocket, attached: Attached, offset: u64, rules: Rules) -> Parting {
    let (mut sink, mut stream) = socket.split();
    let (pulse, Rules { signal, until }) = (Pulse::new(), rules);
    let close = tokio::select! {
        close = listen(&mut stream, &attached, &*signal, &pulse) => close,
        close = speak(&mut sink, &attached, offset, &pulse) => close,
        () = attached.taken.cancelled() => Some((code::TAKEN_OVER, "another client has taken over")),
        close = until => Some(close),
    };
    drop(attached);
    websocket::part(sink, stream, close.unwrap_or((code::NORMAL, "")))
}

type Close = Option<websocket::Close>;

/// Takes what the client says. Ends with the client.
async fn listen(
    stream: &mut SplitStream<WebSocket>,
    attached: &Attached,
    signal: &(dyn Fn(u8) -> bool + Send + Sync),
    pulse: &Pulse,
) -> Close {
    let session = &attached.session;
    while let Some(message) = stream.next().await {
        pulse.hears();
        let text = match message {
            Ok(Message::Text(text)) => text,
            Ok(Message::Ping(_) | Message::Pong(_)) => continue,
            Ok(Message::Close(_)) => return None,
            Ok(Message::Binary(_)) => return Some((code::UNSUPPORTED, "only text frames are understood")),
            Err(error) => return websocket::fault(error),
        };
        match protocol::read(&text) {
            Some(Said::Input(data)) => {
                if let Some(input) = &session.job.input {
                    // A terminal that takes no more input drops it, as a real one does.
                    let _ = input.write(None, data.as_bytes()).await;
                }
            }
            Some(Said::Resize { columns, rows }) => session.resize(columns, rows).await,
            Some(Said::Signal(number)) if signal(number) => session.job.signal_foreground(number).await,
            Some(Said::Signal(_)) | None => {}
        }
    }
    None
}

/// Tells the client what the terminal shows. Ends when the shell has.
async fn speak(
    sink: &mut SplitSink<WebSocket, Message>,
    attached: &Attached,
    offset: u64,
    pulse: &Pulse,
) -> Close {
    let (session, job) = (&attached.session, &attached.session.job);
    send(sink, protocol::started(&session.id, job.pid)).await?;
    let mut changes = job.changes();
    let mut cursor = Cursor::at(offset.max(job.log().first(Stream::Stdout)), 0);
    let [mut at, _] = cursor.offsets;
    // The beginning of a character whose end has not come yet.
    let mut held: Vec<u8> = Vec::new();
    let mut beat = Pulse::beat();
    loop {
        changes.mark_unchanged();
        attached.follow(cursor.offsets[0]);
        let progress = job.progress(&mut cursor, FRAME);
        for segment in &progress.segments {
            if held.is_empty() {
                at = segment.offset;
            }
            held.extend_from_slice(&segment.data);
        }
        let ready = if progress.exit.is_some() { held.len() } else { whole(&held) };
        if ready > 0 {
            let rest = held.split_off(ready);
            send(sink, protocol::output(&held, at)).await?;
            at += ready as u64;
            held = rest;
        }
        if let Some(exit) = progress.exit {
            send(sink, protocol::exited(&session.id, exit.exit_code())).await?;
            return Some((code::NORMAL, ""));
        }
        if !progress.segments.is_empty() {
            continue;
        }
        tokio::select! {
            _ = changes.changed() => {}
            due = pulse.due(&mut beat) => {
                if let Err(silent) = due {
                    return Some(silent);
                }
                sink.send(Message::Ping(bytes::Bytes::new())).await.ok()?;
            }
        }
    }
}

/// Sends one text frame; `None` when the client is gone or as good as gone.
async fn send(sink: &mut SplitSink<WebSocket, Message>, text: String) -> Option<()> {
    timeout(SLOW, sink.send(Message::Text(text.into()))).await.ok()?.ok()
}
