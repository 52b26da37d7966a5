//! A log as server-sent events: what is stored, then what comes. Nothing is held for a slow reader: the log is the source,
//! and a reader that falls too far behind is told so and comes back.

use crate::agents::log::{Event, Follow, FollowError, Kind, join, veil};
use crate::agents::sessions::details::Details;
use crate::agents::store::{Store, sessions};
use crate::agents::turns::rows;
use crate::endpoint::Reply;
use crate::sse;
use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, HeaderName};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Silence after which a comment is sent.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Events in one piece of the body.
const PIECE: usize = 256;
/// A reader that was at the end of the log once and is so many events behind now is too slow.
pub(super) const LAG: i64 = 20_000;

/// What is streamed.
#[derive(Debug)]
pub(super) struct Feed {
    pub(super) follow: Follow,
    pub(super) store: Store,
    pub(super) stopping: CancellationToken,
    pub(super) pick: Pick,
    /// How long pieces of one thing are gathered.
    pub(super) coalesce: Duration,
    /// The session that, once it is idle and all is told, ends the stream.
    pub(super) until_idle: Option<String>,
    /// Whether `id` is the number of all sessions.
    pub(super) global: bool,
}

/// Which events are shown, and how.
#[derive(Debug, Default)]
pub(super) struct Pick {
    /// Only these; all where there are none.
    pub(super) kinds: Vec<Kind>,
    /// Whether chunks are shown.
    pub(super) chunks: bool,
    /// Whether what came out of files is shown.
    pub(super) files: bool,
    /// Only sessions of this agent.
    pub(super) agent_id: Option<String>,
    /// Only sessions with this label.
    pub(super) label: Option<(String, String)>,
}

struct State {
    feed: Feed,
    fresh: bool,
    /// Whether the end of the log was reached once.
    live: bool,
    ended: bool,
    /// Whether events of a session are wanted.
    wanted: HashMap<Arc<str>, bool>,
    silent_until: Instant,
}

impl Feed {
    /// The stream, for so long at most.
    pub(super) fn reply(self, longest: Duration) -> Reply {
        let frames = self.frames().take_until(Box::pin(tokio::time::sleep(longest)));
        Reply::stream(HeaderValue::from_static("text/event-stream"), Body::from_stream(frames))
            .header(CACHE_CONTROL, HeaderValue::from_static("no-cache"))
            // A proxy that gathers output would hold the events back.
            .header(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"))
    }

    fn frames(self) -> impl stream::Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
        stream::unfold(State::of(self), |mut state| async move {
            let piece = state.next().await?;
            state.silent_until = Instant::now() + HEARTBEAT;
            Some((Ok(piece), state))
        })
    }
}

impl State {
    fn of(feed: Feed) -> Self {
        let silent_until = Instant::now() + HEARTBEAT;
        Self { feed, fresh: true, live: false, ended: false, wanted: HashMap::new(), silent_until }
    }

    async fn next(&mut self) -> Option<Bytes> {
        if std::mem::take(&mut self.fresh) {
            return Some(Bytes::from_static(b"retry: 2000\n\n"));
        }
        while !self.ended {
            if self.live && self.feed.follow.behind() > LAG {
                return Some(self.lagged());
            }
            let events = match self.feed.follow.ready(PIECE).await {
                Ok(events) => events,
                // What comes next was trimmed while we were on the way.
                Err(FollowError::Expired { .. }) => return Some(self.lagged()),
                Err(_) => return None,
            };
            if events.is_empty() {
                self.live = true;
                if self.is_idle().await {
                    return None;
                }
                tokio::select! {
                    () = self.feed.follow.changed() => {}
                    () = tokio::time::sleep_until(self.silent_until) => return Some(sse::heartbeat()),
                    () = self.feed.stopping.cancelled() => return None,
                }
                if !self.feed.coalesce.is_zero() {
                    tokio::time::sleep(self.feed.coalesce).await;
                }
                continue;
            }
            let mut shown = Vec::with_capacity(events.len());
            for event in &events {
                if self.wants(event).await? {
                    let hidden = if self.feed.pick.files { None } else { veil(event) };
                    shown.push(hidden.unwrap_or_else(|| Event { raw: None, ..(**event).clone() }));
                }
            }
            if !self.feed.coalesce.is_zero() {
                shown = join(shown);
            }
            if !shown.is_empty() {
                return Some(self.write(&shown));
            }
            if self.silent_until <= Instant::now() {
                return Some(sse::heartbeat());
            }
        }
        None
    }

    fn write(&self, events: &[Event]) -> Bytes {
        let mut out = Vec::new();
        for event in events {
            let id = if self.feed.global { event.gseq } else { event.seq };
            out.extend_from_slice(format!("id: {id}\n").as_bytes());
            sse::event(&mut out, event.kind.as_str(), event);
        }
        out.into()
    }

    fn lagged(&mut self) -> Bytes {
        self.ended = true;
        let mut out = Vec::new();
        sse::event(&mut out, "lagged", &json!({"after": self.feed.follow.after()}));
        out.into()
    }

    /// Whether all is told and nothing is under way.
    async fn is_idle(&self) -> bool {
        let Some(session_id) = self.feed.until_idle.clone() else { return false };
        let after = self.feed.follow.after();
        let look = move |db: &Connection| {
            let Some(row) = sessions::find(db, &session_id)? else { return Ok(true) };
            let busy = match row.state.as_str() {
                "starting" | "running" | "waiting" => true,
                // A turn that has been taken in will run.
                "idle" => rows::under_way(db, row.no, Details::of(&row).queue_paused)?,
                _ => false,
            };
            Ok(!busy && row.last_seq <= after)
        };
        self.feed.store.read(look).await.unwrap_or(true)
    }

    /// Whether an event is shown; `None` where the store has failed.
    async fn wants(&mut self, event: &Event) -> Option<bool> {
        let pick = &self.feed.pick;
        let named = pick.kinds.is_empty() || pick.kinds.contains(&event.kind);
        if event.kind == Kind::SessionUpdated {
            // Its labels may have changed.
            self.wanted.remove(&event.session_id);
        }
        if !named || (event.kind.is_chunk() && !pick.chunks) {
            return Some(false);
        }
        if pick.agent_id.is_none() && pick.label.is_none() {
            return Some(true);
        }
        if let Some(wanted) = self.wanted.get(&event.session_id) {
            return Some(*wanted);
        }
        let session_id = event.session_id.to_string();
        let row = self.feed.store.read(move |db| sessions::find(db, &session_id)).await.ok()?;
        let labelled = |row: &sessions::SessionRow| {
            let pair = pick.label.as_ref();
            pair.is_none_or(|(name, value)| row.labels.get(name).and_then(Value::as_str) == Some(value))
        };
        let wanted = row.is_some_and(|row| {
            pick.agent_id.as_ref().is_none_or(|agent_id| *agent_id == row.agent_id) && labelled(&row)
        });
        self.wanted.insert(Arc::clone(&event.session_id), wanted);
        Some(wanted)
    }
}

#[cfg(test)]
mod tests;
