//! What the client says.

use std::sync::Arc;

use axum::extract::ws::Message;
use futures_util::StreamExt as _;

use super::feed::Feed;
use super::protocol::{self, First, Said};
use super::{Close, Line, Source, code};
use crate::process::{Job, Reason};
use crate::websocket;

/// SIGKILL.
const KILL: u8 = 9;

/// The first frame, or what is wrong with it; the outer error says how the socket ends.
pub(super) async fn first(source: &mut Source) -> Result<Result<First, &'static str>, Close> {
    loop {
        match text(source.next().await)? {
            Some(text) => return Ok(protocol::first(&text)),
            None => continue,
        }
    }
}

/// Takes what the client says, until it closes or breaks the rules. Frames of an unknown kind are passed over.
pub(super) async fn listen(source: &mut Source, line: &Line) -> Close {
    let job = &line.opened.attachment.job;
    let feed = Feed::to(job);
    loop {
        let message = source.next().await;
        line.pulse.hears();
        if let Some(Ok(Message::Pong(number))) = &message {
            if let Ok(number) = <[u8; 8]>::try_from(number.as_ref()) {
                line.ponged(u64::from_be_bytes(number));
            }
            continue;
        }
        let text = match text(message) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(close) => return close,
        };
        line.note.carried(text.len() as u64, 0);
        match protocol::said(&text) {
            Some(Said::Input(data)) => feed.input(data).await,
            Some(Said::CloseStdin) => feed.end().await,
            Some(Said::Kill) => kill(job).await,
            // A command without a terminal has no size; one whose terminal is gone neither.
            Some(Said::Resize { columns, rows }) => drop(job.resize(columns, rows).await),
            None => {}
        }
    }
}

/// Ends the whole group at once, and what has left it soon after.
async fn kill(job: &Arc<Job>) {
    let group = Arc::clone(job);
    let _ = tokio::task::spawn_blocking(move || group.signal(KILL)).await;
    job.end(Reason::Delete);
}

/// The text of a message; none for one that only keeps the socket alive.
fn text(
    message: Option<Result<Message, axum::Error>>,
) -> Result<Option<axum::extract::ws::Utf8Bytes>, Close> {
    match message {
        Some(Ok(Message::Text(text))) => Ok(Some(text)),
        Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(None),
        Some(Ok(Message::Binary(_))) => Err(Some((code::UNSUPPORTED, "only text frames are understood"))),
        Some(Err(error)) => Err(websocket::fault(error)),
        Some(Ok(Message::Close(_))) | None => Err(None),
    }
}
