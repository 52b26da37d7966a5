//! The socket of one command: JSON text frames, output as text with offsets that count the text.
//!
//! | module | |
//! |---|---|
//! | `protocol` | frames of both sides |
//! | `speak` | output, its acknowledgement by pongs, and the end |
//! | `listen` | what the client says |
//! | `feed` | the client's input on its way to the command |
//!
//! What a client has not yet received is kept, so that one that was cut off goes on where it stopped: pings carry a
//! number, and the pong of a number says that everything sent before it has arrived.

mod feed;
mod listen;
mod protocol;
mod speak;

pub use protocol::First;

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use futures_util::StreamExt as _;
use futures_util::stream::{SplitSink, SplitStream};
use tokio::time::timeout;

use crate::endpoint::{Note, Parting};
use crate::process::Reason;
use crate::process::resumable::{Attachment, TextPlace};
use crate::websocket::{self, Pulse, Until};

/// Largest message of a client, in bytes.
pub const MAX_MESSAGE: usize = 4 << 20;

/// How long a client may take for its first frame.
const FIRST: Duration = Duration::from_secs(10);

/// How long a client that no longer reads is still listened to: its last word may be `kill`.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The status codes that a socket is closed with.
mod code {
    pub(super) const NORMAL: u16 = 1000;
    pub(super) const GOING_AWAY: u16 = 1001;
    pub(super) const UNSUPPORTED: u16 = 1003;
    pub(super) const POLICY: u16 = 1008;
}

/// What holds for a socket, whatever it is attached to.
#[derive(Debug)]
pub struct Terms {
    /// What ends it from outside.
    pub(crate) until: Until,
    /// Where its bytes are counted.
    pub note: Note,
}

/// What it is attached to.
#[derive(Debug)]
pub struct Opened {
    /// By which the client may come back.
    pub command_id: String,
    /// The command.
    pub attachment: Attachment,
    /// Where to go on.
    pub place: TextPlace,
    /// Whether the command ends with the socket.
    pub kill_on_disconnect: bool,
}

/// Why it is attached to nothing.
#[derive(Debug)]
pub struct Refusal {
    /// `CommandNotFound` or `CommandError`.
    pub kind: &'static str,
    /// For the caller.
    pub message: String,
}

/// A code and a reason; none where the client has gone.
type Close = Option<websocket::Close>;

type Sink = SplitSink<WebSocket, Message>;
type Source = SplitStream<WebSocket>;

/// What both directions know.
#[derive(Debug)]
struct Line {
    opened: Opened,
    note: Note,
    /// Whether the client is there.
    pulse: Pulse,
    /// Pings on their way: number, and the offsets before which everything had been sent.
    pings: Mutex<VecDeque<(u64, [u64; 2])>>,
}

impl Line {
    fn pinged(&self, number: u64, offsets: [u64; 2]) {
        self.pings.lock().unwrap_or_else(PoisonError::into_inner).push_back((number, offsets));
    }

    /// A pong answers its ping and all before it.
    fn ponged(&self, number: u64) {
        let mut pings = self.pings.lock().unwrap_or_else(PoisonError::into_inner);
        let mut arrived = None;
        // A number that was never sent answers nothing.
        if pings.back().is_some_and(|(last, _)| number <= *last) {
            while pings.front().is_some_and(|(sent, _)| *sent <= number) {
                arrived = pings.pop_front();
            }
        }
        drop(pings);
        if let Some((_, offsets)) = arrived {
            self.opened.attachment.may_free(offsets);
        }
    }
}

/// Serves a socket until either side has had enough. `open` attaches it, by the client's first frame.
pub async fn serve(
    socket: WebSocket,
    open: impl FnOnce(First) -> Result<Opened, Refusal> + Send,
    terms: Terms,
) -> Parting {
    let (mut sink, mut source) = socket.split();
    let first = match timeout(FIRST, listen::first(&mut source)).await {
        Ok(first) => first,
        Err(_) => Err(Some((code::POLICY, "the first frame did not come"))),
    };
    let close = match first {
        Err(close) => close,
        Ok(Err(wrong)) => refuse(&mut sink, "CommandError", wrong).await,
        Ok(Ok(first)) => match open(first) {
            Err(refusal) => refuse(&mut sink, refusal.kind, &refusal.message).await,
            Ok(opened) => converse(&mut sink, &mut source, opened, terms).await,
        },
    };
    websocket::part(sink, source, close.unwrap_or((code::NORMAL, "")))
}

async fn refuse(sink: &mut Sink, kind: &str, message: &str) -> Close {
    speak::send(sink, protocol::error(kind, message)).await?;
    Some((code::NORMAL, ""))
}

async fn converse(sink: &mut Sink, source: &mut Source, opened: Opened, terms: Terms) -> Close {
    let Terms { until, note } = terms;
    let line = Line { opened, note, pulse: Pulse::new(), pings: Mutex::default() };
    let close = {
        let mut speaking = pin!(speak::speak(sink, &line));
        let mut listening = pin!(listen::listen(source, &line));
        tokio::select! {
            close = &mut speaking => {
                if close.is_none() {
                    let _ = timeout(LAST_WORDS, &mut listening).await;
                }
                close
            }
            close = &mut listening => close,
            close = until => Some(close),
        }
    };
    let going_away = matches!(close, Some((code::GOING_AWAY, _)));
    if line.opened.kill_on_disconnect && !going_away {
        // Nothing happens to a command that has ended.
        line.opened.attachment.job.end(Reason::Disconnect);
    }
    close
}
