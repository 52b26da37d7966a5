//! A stream of events on its way from a worker to a client.

use crate::commands::{Event, Pending};
use crate::sse;
use axum::body::Bytes;
use futures_util::{Stream, stream};
use serde_json::json;
use std::convert::Infallible;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The events. The worker sends a next one only when the client has taken one. What goes wrong on the way is told as an
/// `error` event, for the status has been sent.
pub(super) fn frames(
    pending: Pending,
    until: Option<Instant>,
    stopping: CancellationToken,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
    stream::unfold(Some((pending, stopping)), move |state| async move {
        let (mut pending, stopping) = state?;
        let event = tokio::select! {
            event = pending.next() => Some(event),
            () = expired(until) => None,
            () = stopping.cancelled() => return None,
        };
        match event {
            Some(Event::Text(text)) => {
                pending.more(1);
                Some((Ok(Bytes::from(text)), Some((pending, stopping))))
            }
            Some(Event::Raised { kind, message }) => Some((Ok(error(&message, &kind)), None)),
            Some(Event::Gone) => {
                Some((Ok(error("The commands worker ended while it ran this call", "RuntimeError")), None))
            }
            Some(_) => None,
            None => {
                pending.give_up();
                Some((Ok(error("The stream took longer than it may", "TimeoutError")), None))
            }
        }
    })
}

async fn expired(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

fn error(message: &str, kind: &str) -> Bytes {
    let mut frame = Vec::new();
    sse::event(&mut frame, "error", &json!({"error": message, "type": kind}));
    frame.into()
}
