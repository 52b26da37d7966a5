//! The loop between a socket and a session: output one way, what the client says the other way.

use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use super::protocol::{self, Said};
use super::session::Attached;
use crate::process::{Cursor, Stream};
use crate::sse::whole;
use crate::websocket;

/// Largest message of a client, in bytes.
pub const MAX_MESSAGE: usize = 1 << 20;

/// Output of one frame, in bytes; escaped it may be six times as long.
const FRAME: usize = 64 * 1024;

/// How often a silent client is asked whether it is there, and how long it may stay silent.
const PING: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(60));

/// How long a client may take for one frame before it counts as gone.
const SLOW: Duration = Duration::from_secs(60);

/// The status codes that a socket is closed with.
mod code {
    pub(super) const NORMAL: u16 = 1000;
    pub(super) const GOING_AWAY: u16 = 1001;
    pub(super) const UNSUPPORTED: u16 = 1003;
    pub(super) const POLICY: u16 = 1008;
    pub(super) const TAKEN_OVER: u16 = 4001;
}

/// What the caller's rules say of a socket.
pub struct Rules {
    /// Whether a signal may be sent.
    pub signal: Box<dyn Fn(u8) -> bool + Send + Sync>,
    /// How long the socket may be open.
    pub longest: Duration,
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules").field("longest", &self.longest).finish_non_exhaustive()
    }
}

/// Serves a socket until either side has had enough. `offset`: where in the scrollback to begin.
pub async fn serve(
    socket: WebSocket,
    attached: Attached,
    offset: u64,
    rules: Rules,
    stopping: CancellationToken,
) {
    let (mut sink, mut stream) = socket.split();
    let alive = tokio::sync::watch::Sender::new(Instant::now());
    let close = tokio::select! {
        close = listen(&mut stream, &attached, &rules, &alive) => close,
        close = speak(&mut sink, &attached, offset, &alive) => close,
        () = attached.taken.cancelled() => Some((code::TAKEN_OVER, "another client has taken over")),
        () = stopping.cancelled() => Some((code::GOING_AWAY, "the server is stopping")),
        () = tokio::time::sleep(rules.longest) => Some((code::POLICY, "the socket was open for too long")),
    };
    drop(attached);
    let (code, reason) = close.unwrap_or((code::NORMAL, ""));
    websocket::part(&mut sink, code, reason).await;
}

type Close = Option<(u16, &'static str)>;

/// Takes what the client says. Ends with the client.
async fn listen(
    stream: &mut SplitStream<WebSocket>,
    attached: &Attached,
    rules: &Rules,
    alive: &tokio::sync::watch::Sender<Instant>,
) -> Close {
    let session = &attached.session;
    while let Some(message) = stream.next().await {
        alive.send_replace(Instant::now());
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
            Some(Said::Signal(number)) if (rules.signal)(number) => {
                session.job.signal_foreground(number).await
            }
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
    alive: &tokio::sync::watch::Sender<Instant>,
) -> Close {
    let (session, job) = (&attached.session, &attached.session.job);
    send(sink, protocol::started(&session.id, job.pid)).await?;
    let mut changes = job.changes();
    let mut cursor = Cursor::at(offset.max(job.log().first(Stream::Stdout)), 0);
    let [mut at, _] = cursor.offsets;
    // The beginning of a character whose end has not come yet.
    let mut held: Vec<u8> = Vec::new();
    let mut ping = interval_at(Instant::now() + PING.0, PING.0);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
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
            _ = ping.tick() => {
                if alive.borrow().elapsed() > PING.1 {
                    return Some((code::GOING_AWAY, "no answer to pings"));
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
