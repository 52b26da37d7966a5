//! One socket, one port: binary frames one way, whatever the port sends the other way.

use axum::extract::ws::{Message, WebSocket};
use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Budget, ENDED, SPENT, Terms, UNSUPPORTED};
use crate::endpoint::Parting;
use crate::websocket::{self, Pulse};

/// Bytes of one frame.
const FRAME: usize = 64 * 1024;

/// Carries bytes both ways until either side ends or a limit is reached.
pub async fn serve(socket: WebSocket, stream: TcpStream, terms: Terms) -> Parting {
    let Terms { most, until, note } = terms;
    let (budget, pulse) = (Budget::new(most, note), Pulse::new());
    let (mut sink, mut messages) = socket.split();
    let (mut reader, mut writer) = stream.into_split();
    let inward = async {
        while let Some(message) = messages.next().await {
            pulse.hears();
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
        let (mut buffer, mut beat) = (BytesMut::new(), Pulse::beat());
        loop {
            buffer.reserve(FRAME);
            let message = tokio::select! {
                read = reader.read_buf(&mut buffer) => match read {
                    Ok(read) if read > 0 => {
                        if !budget.pass(0, read) {
                            return SPENT;
                        }
                        Message::Binary(buffer.split().freeze())
                    }
                    _ => return ENDED,
                },
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
    let close = tokio::select! {
        end = inward => end,
        end = outward => end,
        end = until => end,
    };
    websocket::part(sink, messages, close)
}
