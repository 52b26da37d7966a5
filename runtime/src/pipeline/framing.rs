//! Step 5: query parameters occur once, and the message is framed as its door takes it.

use super::route::Match;
use crate::endpoint::Query;
use crate::error::{ApiError, ErrorCode};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use axum::http::request::Parts;
use policy_lang::endpoint::BodyKind;

/// Judges the query and the framing headers.
///
/// # Errors
/// 400 `duplicate_parameter` or `body_not_allowed`, 411 `length_required`, 415 `unsupported_media_type`.
pub(super) fn judge(matched: &Match, parts: &Parts) -> Result<Query, ApiError> {
    let query = Query::parse(matched.query())?;
    let headers = &parts.headers;
    let kind = matched.door().body;
    transfer_encoding(kind, headers)?;
    if !has_body(headers) {
        return Ok(query);
    }
    if kind == BodyKind::None {
        return Err(ApiError::new(ErrorCode::BodyNotAllowed, "This endpoint takes no request body"));
    }
    content_type(kind, headers)?;
    Ok(query)
}

/// Whether a body follows the head.
pub(super) fn has_body(headers: &HeaderMap) -> bool {
    let announced = headers.get(CONTENT_LENGTH).is_some_and(|length| length.as_bytes() != b"0");
    announced || headers.contains_key(TRANSFER_ENCODING)
}

/// The announced length, where there is one.
pub(super) fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn transfer_encoding(kind: BodyKind, headers: &HeaderMap) -> Result<(), ApiError> {
    let mut values = headers.get_all(TRANSFER_ENCODING).iter();
    let Some(first) = values.next() else { return Ok(()) };
    let streamed = matches!(kind, BodyKind::Raw | BodyKind::Multipart);
    let exactly_chunked = first.as_bytes() == b"chunked" && values.next().is_none();
    if streamed && exactly_chunked {
        return Ok(());
    }
    Err(ApiError::new(
        ErrorCode::LengthRequired,
        "Send the body with Content-Length and without Transfer-Encoding",
    ))
}

fn content_type(kind: BodyKind, headers: &HeaderMap) -> Result<(), ApiError> {
    let encoded = headers.get_all(CONTENT_ENCODING).iter().any(|coding| coding.as_bytes() != b"identity");
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let given = values.next().map_or("", |value| value.to_str().unwrap_or("?"));
    let fits = match kind {
        BodyKind::None | BodyKind::Raw => true,
        BodyKind::Json => is_json(given),
        BodyKind::Multipart => essence(given).eq_ignore_ascii_case("multipart/form-data"),
    };
    if encoded || !fits || values.next().is_some() {
        let wanted = if kind == BodyKind::Multipart { "multipart/form-data" } else { "application/json" };
        let message = format!("The request body must be {wanted} without a content coding");
        return Err(ApiError::new(ErrorCode::UnsupportedMediaType, message));
    }
    Ok(())
}

fn essence(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or("").trim()
}

/// No type at all and `text/plain` are what simple programs send with JSON.
fn is_json(content_type: &str) -> bool {
    let known = ["", "application/json", "text/plain"]
        .iter()
        .any(|known| essence(content_type).eq_ignore_ascii_case(known));
    let charset = content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    });
    known && charset.is_none_or(|charset| charset.eq_ignore_ascii_case("utf-8"))
}
