//! Turns a feed of events into an answer.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, HeaderName};

use crate::endpoint::Reply;
use crate::sse::Feed;

/// 200 with the events of a process.
pub(in super::super) fn reply<K: Send + 'static>(feed: Feed<K>) -> Reply {
    Reply::stream(HeaderValue::from_static("text/event-stream"), Body::from_stream(feed.frames()))
        .header(CACHE_CONTROL, HeaderValue::from_static("no-cache"))
        // A proxy that gathers output would hold the events back.
        .header(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"))
}
