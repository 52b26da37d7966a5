//! From what a template's function returned to an answer.

use crate::endpoint::{Answer, Reply};
use crate::error::ApiError;
use axum::body::{Body, Bytes};
use axum::http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING, UPGRADE,
};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures_util::Stream;
use serde_json::Value;
use std::convert::Infallible;

/// Headers that the server writes itself, or that would change how the message is framed.
const OURS: [HeaderName; 5] =
    [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING, UPGRADE, HeaderName::from_static("x-request-id")];

/// An answer in one piece.
pub(super) fn reply(mut response: Value) -> Answer {
    let bytes = response.get("bytes").and_then(Value::as_str).map(|text| BASE64_STANDARD.decode(text));
    let reply = match bytes {
        Some(Ok(bytes)) => {
            Reply::full(StatusCode::OK, HeaderValue::from_static("application/octet-stream"), bytes)
        }
        Some(Err(_)) => return Err(wrong("the body cannot be read")),
        None => Reply::ok(&response.get_mut("json").map(Value::take).unwrap_or_default()),
    };
    headed(reply, &response)
}

/// An answer sent event by event.
pub(super) fn stream(
    head: &Value,
    frames: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static,
) -> Answer {
    let reply = Reply::stream(HeaderValue::from_static("text/event-stream"), Body::from_stream(frames))
        .header(CACHE_CONTROL, HeaderValue::from_static("no-cache"))
        .header(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    headed(reply, head)
}

/// Puts status and headers on.
fn headed(reply: Reply, head: &Value) -> Answer {
    let status = head.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
    let status =
        status.and_then(|status| StatusCode::from_u16(status).ok()).filter(|status| status.as_u16() >= 200);
    let mut reply = reply.status(status.ok_or_else(|| wrong("the status is none"))?);
    for (name, value) in head.get("headers").and_then(Value::as_object).into_iter().flatten() {
        let name =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("a header has no valid name"))?;
        let value = value.as_str().and_then(|value| HeaderValue::from_str(value).ok());
        let value = value.ok_or_else(|| wrong("a header has no valid value"))?;
        if !OURS.contains(&name) {
            reply = reply.header(name, value);
        }
    }
    debug_assert!(reply.headers.contains_key(CONTENT_TYPE), "every answer has a type");
    Ok(reply)
}

fn wrong(why: &str) -> ApiError {
    ApiError::internal(format!("The route answered what cannot be sent: {why}")).kind("ValueError")
}
