//! The events of one turn as a stream.

use crate::agents::log::{Event, Follow, FollowError, veil};
use crate::agents::sessions::actor::{GRACE, Queued};
use crate::agents::store::sessions::SessionRow;
use crate::app::App;
use crate::endpoint::{Answer, Reply};
use crate::error::ApiError;
use crate::sse;
use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, HeaderName};
use futures_util::{Stream, stream};
use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// A silent stream says that it is there.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Events in one piece of the body.
const PIECE: usize = 256;

/// Cancels the turn when its reader leaves before the end.
struct Leaving {
    app: Arc<App>,
    session_id: String,
    turn_id: String,
    armed: bool,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        let (app, session_id, turn_id) =
            (Arc::clone(&self.app), std::mem::take(&mut self.session_id), std::mem::take(&mut self.turn_id));
        tokio::spawn(async move {
            let live = Arc::clone(&app.agents.live);
            let cancelled =
                live.ask(&app, &session_id, move |actor| Box::pin(actor.cancel_turn(turn_id, GRACE, true)));
            // A turn that has ended meanwhile is as wanted.
            let _ = cancelled.await;
        });
    }
}

/// The events of a turn that has just been taken in, to its end. Who may not read `files` sees no content of them.
pub(super) async fn turn(
    app: Arc<App>,
    row: &SessionRow,
    queued: Queued,
    cancels: bool,
    files: bool,
) -> Answer {
    let follow =
        app.agents.log().await?.follow(&row.session_id, queued.seq - 1).await.map_err(
            |error| match error {
                FollowError::Store(error) => error.into(),
                error => ApiError::internal(error.to_string()),
            },
        )?;
    let leaving =
        Leaving { app, session_id: row.session_id.clone(), turn_id: queued.turn_id.clone(), armed: cancels };
    let frames = frames(follow, queued.turn_id, leaving, files);
    Ok(Reply::stream(HeaderValue::from_static("text/event-stream"), Body::from_stream(frames))
        .header(CACHE_CONTROL, HeaderValue::from_static("no-cache"))
        // A proxy that gathers output would hold the events back.
        .header(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")))
}

fn frames(
    follow: Follow,
    turn_id: String,
    leaving: Leaving,
    files: bool,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
    let begun = Some((follow, leaving, true));
    stream::unfold(begun, move |state| {
        let turn_id = turn_id.clone();
        async move {
            let (mut follow, mut leaving, first) = state?;
            if first {
                return Some((Ok(Bytes::from_static(b"retry: 2000\n\n")), Some((follow, leaving, false))));
            }
            let stopping = leaving.app.stopping.clone();
            loop {
                let events = tokio::select! {
                    events = follow.next(PIECE) => events,
                    () = tokio::time::sleep(HEARTBEAT) => {
                        return Some((Ok(sse::heartbeat()), Some((follow, leaving, false))));
                    }
                    () = stopping.cancelled() => return None,
                };
                let Ok(events) = events else { return None };
                let mut out = Vec::new();
                for event in events.iter().filter(|event| event.turn_id.as_deref() == Some(&turn_id)) {
                    let veiled = if files { None } else { veil(event) };
                    write(&mut out, veiled.as_ref().unwrap_or(event));
                    if event.kind.ends_turn() {
                        leaving.armed = false;
                        return Some((Ok(out.into()), None));
                    }
                }
                if !out.is_empty() {
                    return Some((Ok(out.into()), Some((follow, leaving, false))));
                }
            }
        }
    })
}

fn write(out: &mut Vec<u8>, event: &Event) {
    let mut id = String::new();
    // Writing to memory cannot fail.
    let _ = writeln!(id, "id: {}", event.seq);
    out.extend_from_slice(id.as_bytes());
    sse::event(out, event.kind.as_str(), event);
}
