//! One socket, one port: binary frames one way, whatever the port sends the other way.

use axum::extract::ws::{Message, WebSocket};
use bytes::BytesMut;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Budget, ENDED, SPENT, STOPPING, TOO_LONG, Terms, UNSUPPORTED};
use crate::websocket;

/// Bytes of one frame.
const FRAME: usize = 64 * 1024;

/// Carries bytes both ways until either side ends or a limit is reached.
pub async fn serve(socket: WebSocket, stream: TcpStream, terms: Terms) {
    let Terms { most, longest, stopping, note } = terms;
    let budget = Budget::new(most, note);
    let (mut sink, mut messages) = socket.split();
    let (mut reader, mut writer) = stream.into_split();
    let inward = async {
        while let Some(message) = messages.next().await {
            let data = match message {
                Ok(Message::Binary(data)) => data,
                Ok(Message::Close(_)) => break,
                Ok(Message::Text(_)) => return UNSUPPORTED,
                Ok(Message::Ping(_) | Message::Pong(_)) => continue,
                Err(error) => return websocket::fault(error).unwrap_or(ENDED),
            };
            if !budget.pass(data.len(), 0) {
                return SPENT;
            }
            if writer.write_all(&data).await.is_err() {
                break;
            }
        }
        ENDED
    };
    let outward = async {
        let mut buffer = BytesMut::new();
        loop {
            buffer.reserve(FRAME);
            match reader.read_buf(&mut buffer).await {
                Ok(read) if read > 0 => {
                    if !budget.pass(0, read) {
                        return SPENT;
                    }
                    if sink.send(Message::Binary(buffer.split().freeze())).await.is_err() {
                        return ENDED;
                    }
                }
                _ => return ENDED,
            }
        }
    };
    let (code, reason) = tokio::select! {
        end = inward => end,
        end = outward => end,
        () = stopping.cancelled() => STOPPING,
        () = tokio::time::sleep(longest) => TOO_LONG,
    };
    websocket::part(&mut sink, code, reason).await;
}
