//! Step 6: a JSON body is read whole and strictly; every other one becomes a bounded stream for the handler.

mod json;

use super::admit::Permit;
use super::audit::Record;
use super::framing;
use super::route::Match;
use crate::endpoint::{BodyStream, Intake, JsonBody, Note, too_large};
use crate::env::uploads::{FRAMING_BYTES, request_bytes};
use crate::error::ApiError;
use axum::body::Body;
use axum::http::HeaderMap;
use bytes::{Bytes, BytesMut};
use policy_lang::endpoint::BodyKind;

/// Largest JSON body where no rule says another.
const MAX_REQUEST_BYTES: u64 = 16 * 1024 * 1024;
/// What is set aside before the first byte has come, whatever length was announced.
const MAX_EAGER_BYTES: u64 = 64 * 1024;

/// Reads the body by the kind of the door.
///
/// # Errors
/// 413 `request_too_large`, 400 `invalid_json`, 408 `timeout`.
pub(super) async fn read(
    permit: &Permit,
    matched: &Match,
    streams: bool,
    headers: &HeaderMap,
    incoming: Body,
    note: &Note,
    record: &mut Record,
) -> Result<Intake, ApiError> {
    let kind = matched.door().body;
    if kind == BodyKind::None {
        return Ok(Intake::None);
    }
    let limit = limit(permit, kind, streams);
    let announced = framing::announced(headers);
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large(limit));
    }
    if streams || kind != BodyKind::Json {
        return Ok(Intake::Stream(BodyStream::new(incoming, limit, note.clone())));
    }
    if !framing::has_body(headers) {
        return Ok(Intake::Json(JsonBody::default()));
    }
    let mut stream = BodyStream::new(incoming, limit, Note::default());
    let text = collect(&mut stream, announced.unwrap_or(0)).await;
    record.received(stream.bytes_read());
    let text = text?;
    record.body_was_read();
    json::read(&text).map(Intake::Json)
}

async fn collect(stream: &mut BodyStream, announced: u64) -> Result<Bytes, ApiError> {
    let Some(first) = stream.chunk().await? else { return Ok(Bytes::new()) };
    if first.len() as u64 == announced {
        return Ok(first);
    }
    let eager = usize::try_from(announced.min(MAX_EAGER_BYTES)).unwrap_or(0).max(first.len());
    let mut whole = BytesMut::with_capacity(eager);
    whole.extend_from_slice(&first);
    while let Some(piece) = stream.chunk().await? {
        whole.extend_from_slice(&piece);
    }
    Ok(whole.freeze())
}

/// What a rule says of the request, or else what an upload of the largest size needs on this door, or else the default.
fn limit(permit: &Permit, kind: BodyKind, streams: bool) -> u64 {
    let Some(limits) = permit.rules().map(|rules| &rules.limits) else { return 0 };
    let upload = || {
        let largest = limits.max_bytes.filter(|_| streams)?.value;
        Some(match kind {
            BodyKind::None => 0,
            BodyKind::Raw => largest,
            BodyKind::Multipart => largest.saturating_add(FRAMING_BYTES),
            BodyKind::Json => request_bytes(largest),
        })
    };
    limits.max_request_bytes.map(|limit| limit.value).or_else(upload).unwrap_or(MAX_REQUEST_BYTES)
}
