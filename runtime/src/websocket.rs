//! What all sockets have in common: when they end and with which code, and whether the client is still there.

mod pulse;
mod until;

pub(crate) use pulse::Pulse;
pub(crate) use until::Until;

use crate::endpoint::Parting;
use axum::extract::ws::{CloseFrame, Message};
use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::error::ProtocolError;

/// A status code and a reason.
pub(crate) type Close = (u16, &'static str);

/// The code for what is wrong with a message, and why; `None` where nobody is left to be told.
pub(crate) fn fault(error: axum::Error) -> Option<Close> {
    match *error.into_inner().downcast::<Error>().ok()? {
        Error::Capacity(_) => Some((1009, "the message is too big")),
        Error::Utf8(_) => Some((1007, "text must be UTF-8")),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => None,
        Error::Protocol(_) => Some((1002, "the frame breaks the protocol")),
        _ => None,
    }
}

/// The end of a socket: sends the last frame, and reads on until the client has answered it. A connection that is closed
/// over something unread is reset, and with it goes what the client has not read yet. A client that has said farewell
/// first gets the library's answer to that in its place.
pub(crate) fn part(
    mut sink: impl Sink<Message> + Unpin + Send + 'static,
    mut source: impl Stream<Item = Result<Message, axum::Error>> + Unpin + Send + 'static,
    (code, reason): Close,
) -> Parting {
    let frame = Message::Close(Some(CloseFrame { code, reason: reason.into() }));
    let parting = async move {
        if sink.send(frame).await.is_err() {
            // Nothing can be sent after a farewell, but the answer to it may still wait here.
            let _ = sink.flush().await;
        }
        while let Some(Ok(_)) = source.next().await {}
    };
    Parting::new(async {
        // Whoever does not answer by then is gone.
        let _ = timeout(Duration::from_secs(2), parting).await;
    })
}
