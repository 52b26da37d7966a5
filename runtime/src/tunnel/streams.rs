//! One socket, many streams: the binary frames form one byte stream that speaks yamux, and each of its streams begins
//! with a version and a port and then carries raw TCP.

use std::future::{poll_fn, ready};
use std::net::Ipv4Addr;
use std::pin::pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use bytes::Bytes;
use futures_util::stream::FuturesUnordered;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::compat::{FuturesAsyncReadCompatExt as _, TokioAsyncReadCompatExt as _};
use tokio_util::io::StreamReader;
use yamux::{Config, Connection, Mode};

use super::outgoing::Outgoing;
use super::rounds::rounds;
use super::{Budget, DIAL, ENDED, SPENT, Terms, UNSUPPORTED};
use crate::endpoint::Parting;
use crate::websocket::{self, Close, Pulse};

/// Streams of one tunnel at the same time.
const STREAMS: usize = 128;

/// What may wait for the ports of one tunnel: a window for every stream.
const WINDOWS: usize = STREAMS * 256 * 1024;

/// Bytes moved at once.
const FRAME: usize = 64 * 1024;

/// How long a stream may take to name its port.
const HEAD: Duration = Duration::from_secs(10);

/// How long a stream may be silent of which one side has ended.
const LINGER: Duration = Duration::from_secs(60);

/// The version of the first bytes.
const VERSION: u8 = 1;

/// What a stream is answered first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Open = 0,
    NotAllowed = 1,
    NotReached = 2,
    UnknownVersion = 3,
}

/// Carries streams until the client ends the tunnel or a limit is reached. `allows` judges a port. The streams share the
/// task of their multiplexer, which every byte of theirs passes anyway.
pub async fn serve(
    socket: WebSocket,
    allows: impl Fn(u16) -> bool + Send + Sync + 'static,
    terms: Terms,
) -> Parting {
    let Terms { most, until, note } = terms;
    let budget = Budget::new(most, note);
    let (mut sink, mut messages) = socket.split();
    let (fault, pulse, outgoing) = (OnceLock::new(), Pulse::new(), Outgoing::default());
    let close = {
        let incoming = messages.by_ref().filter_map(|message| {
            pulse.hears();
            ready(piece(message, &fault))
        });
        let line = tokio::io::join(StreamReader::new(Box::pin(incoming)), &outgoing).compat();
        let mut config = Config::default();
        config.set_max_num_streams(STREAMS);
        config.set_max_connection_receive_window(Some(WINDOWS));
        config.set_split_send_size(FRAME);
        let mut connection = Connection::new(line, config, Mode::Server);
        let mut streams = FuturesUnordered::new();
        let carrying = async {
            loop {
                // First the streams, so that the multiplexer finds all that they say in one go.
                tokio::select! {
                    biased;
                    // A stream that fails ends alone; its client sees it reset.
                    Some(_) = streams.next() => {}
                    inbound = poll_fn(|context| connection.poll_next_inbound(context)) => match inbound {
                        Some(Ok(stream)) => streams.push(carry(stream.compat(), &allows, &budget)),
                        Some(Err(_)) | None => return fault.get().copied().unwrap_or(ENDED),
                    }
                }
            }
        };
        let speaking = async {
            let mut beat = Pulse::beat();
            loop {
                let message = tokio::select! {
                    data = outgoing.message() => Message::Binary(data),
                    due = pulse.due(&mut beat) => match due {
                        Ok(()) => Message::Ping(Bytes::new()),
                        Err(silent) => return silent,
                    },
                };
                if sink.send(message).await.is_err() {
                    return ENDED;
                }
            }
        };
        rounds(async {
            // What ends it is never crowded out, and a message is made when all that belongs in it has been said.
            tokio::select! {
                biased;
                end = until => end,
                () = budget.spent.cancelled() => SPENT,
                end = carrying => end,
                end = speaking => end,
            }
        })
        .await
    };
    websocket::part(sink, messages, close)
}

/// The bytes of a message; none for one that only keeps the socket alive. What is wrong with it goes to `fault`: the
/// multiplexer only learns that the line is broken.
fn piece(message: Result<Message, axum::Error>, fault: &OnceLock<Close>) -> Option<std::io::Result<Bytes>> {
    let why = match message {
        Ok(Message::Binary(data)) => return Some(Ok(data)),
        Ok(Message::Ping(_) | Message::Pong(_)) => return None,
        Ok(Message::Close(_)) => None,
        Ok(Message::Text(_)) => Some(UNSUPPORTED),
        Err(error) => websocket::fault(error),
    };
    if let Some(why) = why {
        // The first fault is the one to tell.
        let _ = fault.set(why);
    }
    Some(Err(std::io::ErrorKind::ConnectionAborted.into()))
}

/// One stream, from its first bytes to its end.
async fn carry(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    allows: &(impl Fn(u16) -> bool + Sync),
    budget: &Budget,
) -> std::io::Result<()> {
    let mut head = [0; 3];
    timeout(HEAD, stream.read_exact(&mut head)).await??;
    let [version, high, low] = head;
    let (status, port) = open(version, u16::from_be_bytes([high, low]), allows).await;
    stream.write_all(&[status as u8]).await?;
    let Some(mut port) = port else { return stream.shutdown().await };
    let (mut from_port, mut to_port) = port.split();
    let (mut from_stream, mut to_stream) = tokio::io::split(stream);
    let moved = AtomicU64::new(0);
    let mut inward = pin!(pump(&mut from_stream, &mut to_port, &moved, |bytes| budget.pass(bytes, 0)));
    let mut outward = pin!(pump(&mut from_port, &mut to_stream, &moved, |bytes| budget.pass(0, bytes)));
    tokio::select! {
        end = &mut inward => { end?; rest(outward, &moved).await }
        end = &mut outward => { end?; rest(inward, &moved).await }
    }
}

/// Judges the first bytes and connects.
async fn open(version: u8, port: u16, allows: &(impl Fn(u16) -> bool + Sync)) -> (Status, Option<TcpStream>) {
    if version != VERSION {
        return (Status::UnknownVersion, None);
    }
    if !allows(port) {
        return (Status::NotAllowed, None);
    }
    match timeout(DIAL, TcpStream::connect((Ipv4Addr::LOCALHOST, port))).await {
        Ok(Ok(stream)) => (Status::Open, Some(stream)),
        _ => (Status::NotReached, None),
    }
}

/// Moves bytes one way until their end, which it passes on.
async fn pump(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    moved: &AtomicU64,
    pass: impl Fn(usize) -> bool,
) -> std::io::Result<()> {
    let mut buffer = vec![0; FRAME];
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            return to.shutdown().await;
        }
        if !pass(read) {
            return Err(std::io::ErrorKind::QuotaExceeded.into());
        }
        to.write_all(buffer.get(..read).unwrap_or_default()).await?;
        moved.fetch_add(read as u64, Ordering::Relaxed);
    }
}

/// The other way, once one has ended: as long as something moves.
async fn rest(
    mut way: std::pin::Pin<&mut impl Future<Output = std::io::Result<()>>>,
    moved: &AtomicU64,
) -> std::io::Result<()> {
    loop {
        let before = moved.load(Ordering::Relaxed);
        match timeout(LINGER, poll_fn(|context| -> Poll<_> { way.as_mut().poll(context) })).await {
            Ok(end) => return end,
            Err(_) if moved.load(Ordering::Relaxed) == before => {
                return Err(std::io::ErrorKind::TimedOut.into());
            }
            Err(_) => {}
        }
    }
}
