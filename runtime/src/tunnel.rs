//! Bytes between a WebSocket and a TCP connection.

use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use bytes::BytesMut;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::websocket;

/// Largest message of a client, in bytes.
pub const MAX_MESSAGE: usize = 1 << 20;

/// Bytes of one frame.
const FRAME: usize = 64 * 1024;

/// Carries bytes both ways until either side ends, `most` bytes have passed in all, or `longest` is over.
pub async fn serve(
    socket: WebSocket,
    stream: TcpStream,
    most: u64,
    longest: Duration,
    stopping: CancellationToken,
) {
    let (mut sink, mut messages) = socket.split();
    let (mut reader, mut writer) = stream.into_split();
    let left = std::sync::atomic::AtomicU64::new(most);
    // Whether so many bytes may still pass.
    let pass = |bytes: usize| {
        let take = |left: u64| left.checked_sub(bytes as u64);
        left.fetch_update(std::sync::atomic::Ordering::Relaxed, std::sync::atomic::Ordering::Relaxed, take)
            .is_ok()
    };
    let inward = async {
        while let Some(message) = messages.next().await {
            let data = match message {
                Ok(Message::Binary(data)) => data,
                Ok(Message::Close(_)) => break,
                Ok(Message::Text(_)) => return (1003, "only binary frames are understood"),
                Ok(Message::Ping(_) | Message::Pong(_)) => continue,
                Err(error) => return websocket::fault(error).unwrap_or((1000, "")),
            };
            if !pass(data.len()) {
                return (1008, "as many bytes as may have passed");
            }
            if writer.write_all(&data).await.is_err() {
                break;
            }
        }
        (1000, "")
    };
    let outward = async {
        let mut buffer = BytesMut::new();
        loop {
            buffer.reserve(FRAME);
            match reader.read_buf(&mut buffer).await {
                Ok(read) if read > 0 => {
                    if !pass(read) {
                        return (1008, "as many bytes as may have passed");
                    }
                    if sink.send(Message::Binary(buffer.split().freeze())).await.is_err() {
                        return (1000, "");
                    }
                }
                _ => return (1000, ""),
            }
        }
    };
    let (code, reason) = tokio::select! {
        end = inward => end,
        end = outward => end,
        () = stopping.cancelled() => (1001, "the server is stopping"),
        () = tokio::time::sleep(longest) => (1008, "the tunnel was open for too long"),
    };
    websocket::part(&mut sink, code, reason).await;
}
