//! What the endpoints about events, items, artifacts and history have in common.

use super::super::launch;
use crate::agents::log::{FollowError, Kind};
use crate::agents::store::page::Page;
use crate::endpoint::Call;
use crate::error::{ApiError, ErrorCode};
use policy_lang::endpoint::Scope;

/// Whether the caller may see what came out of files.
pub(super) fn files(call: &Call) -> bool {
    call.principal().scopes.holds(Scope::FilesRead)
}

/// A limit of the policy as a size.
pub(super) fn size(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// Most bytes of one answer.
pub(super) fn max_bytes(call: &Call, default: u64) -> usize {
    size(launch::limit(call, |limits| limits.max_bytes, default))
}

/// The page of a list that the query asks for.
pub(super) fn page(call: &Call, list: &str) -> Result<Page, ApiError> {
    let query = call.query();
    let most = launch::limit(call, |limits| limits.max_entries, 200);
    Page::new(list, query.count("limit")?, query.text("cursor")?, most)
}

/// A text of the query, where there is any.
pub(super) fn text(call: &Call, name: &str) -> Result<Option<String>, ApiError> {
    Ok(call.query().text(name)?.filter(|text| !text.is_empty()).map(str::to_owned))
}

/// The kinds of events that the query asks for; all where it says none.
pub(super) fn kinds(call: &Call) -> Result<Vec<Kind>, ApiError> {
    let Some(text) = call.query().text("kinds")? else { return Ok(Vec::new()) };
    Kind::parse_list(text).map_err(|name| ApiError::invalid("kinds", format!("kinds has no kind `{name}`")))
}

/// A number of events: the header of a client that comes back, else the query.
pub(super) fn after(call: &Call) -> Result<Option<i64>, ApiError> {
    let header = call.headers().get("last-event-id").map(|value| value.to_str().unwrap_or_default());
    let (name, text) = match header.filter(|text| !text.is_empty()) {
        Some(text) => ("Last-Event-ID", Some(text)),
        None => ("after", call.query().text("after")?.filter(|text| !text.is_empty())),
    };
    let Some(text) = text else { return Ok(None) };
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| digits);
    number.map(Some).ok_or_else(|| invalid_cursor(name, format!("{name} must be the number of an event")))
}

pub(super) fn invalid_cursor(parameter: &str, message: String) -> ApiError {
    ApiError::new(ErrorCode::InvalidCursor, message).with("parameter", parameter)
}

/// 410 `offset_expired`, saying where the log begins.
pub(super) fn expired(field: &str, first: i64) -> ApiError {
    ApiError::new(ErrorCode::OffsetExpired, "The events behind this number are no longer kept")
        .with(field, first)
}

/// Why a log cannot be followed.
pub(super) fn not_followed(field: &str, error: FollowError) -> ApiError {
    match error {
        FollowError::Expired { first } => expired(field, first),
        FollowError::Beyond { last } => {
            invalid_cursor("after", format!("after lies past the end of the log, which is {last}"))
        }
        FollowError::Gone => ApiError::new(ErrorCode::SessionNotFound, "There is no such session"),
        FollowError::Store(error) => error.into(),
    }
}
