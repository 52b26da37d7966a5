//! What the handlers of sessions, turns, requests and rules have in common.

use super::super::launch;
use crate::agents::process::Judge;
use crate::agents::sessions::actor::Launch;
use crate::agents::sessions::{open, view};
use crate::agents::store::page::Page;
use crate::agents::store::sessions::SessionRow;
use crate::endpoint::{Call, JsonBody};
use crate::error::{ApiError, ErrorCode};
use policy_lang::endpoint::Scope;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// Whether the caller may see content of files: what tool calls carry.
pub(super) fn content(call: &Call) -> bool {
    call.principal().scopes.holds(Scope::FilesRead)
}

/// The page of a list that is asked for.
pub(super) fn page(call: &Call, list: &str) -> Result<Page, ApiError> {
    let query = call.query();
    let most = launch::limit(call, |limits| limits.max_entries, 200);
    Page::new(list, query.count("limit")?, query.text("cursor")?, most)
}

/// The session that the path names.
pub(super) fn session(call: &Call) -> impl Future<Output = Result<SessionRow, ApiError>> + Send + use<> {
    let (app, named) = (Arc::clone(call.app()), call.param("session_id").map(Cow::into_owned));
    async move { open::find(&app, &named?).await }
}

/// Everything about a session, as it is now.
pub(super) fn shown(
    call: &Call,
    session_id: &str,
) -> impl Future<Output = Result<Value, ApiError>> + Send + use<> {
    let (app, session_id, content) = (Arc::clone(call.app()), session_id.to_owned(), content(call));
    async move {
        let row = open::find(&app, &session_id).await?;
        Ok(app.agents.store().await?.read(move |db| view::whole(db, &row, content)).await?)
    }
}

/// What it takes to start a session's agent again, by the rules of this call.
pub(super) fn launch_for(call: &Call, row: &SessionRow) -> Result<Launch, ApiError> {
    let judge = Judge::of(call.permit());
    let place = open::directory(&judge, "cwd", &row.cwd)?;
    Ok(Launch { judge, place })
}

/// A text of the query that must be one of some words.
pub(super) fn word(call: &Call, name: &str, words: &[&str]) -> Result<Option<String>, ApiError> {
    let Some(text) = call.query().text(name)?.filter(|text| !text.is_empty()) else { return Ok(None) };
    if words.contains(&text) {
        return Ok(Some(text.to_owned()));
    }
    Err(ApiError::invalid(name, format!("{name} must be one of {}", words.join(", "))))
}

/// A text of the query, where there is any.
pub(super) fn text(call: &Call, name: &str) -> Result<Option<String>, ApiError> {
    Ok(call.query().text(name)?.filter(|text| !text.is_empty()).map(str::to_owned))
}

/// A member of the body that must be an object of this shape.
pub(super) fn object<T: DeserializeOwned>(
    body: &mut JsonBody,
    name: &str,
    code: ErrorCode,
) -> Result<Option<T>, ApiError> {
    let Some(value) = body.take(name) else { return Ok(None) };
    let wrong = |why: String| ApiError::new(code, why).with("parameter", name);
    if !value.is_object() {
        return Err(wrong(format!("{name} must be an object")));
    }
    serde_json::from_value(value).map(Some).map_err(|error| wrong(format!("{name}: {error}")))
}

/// Seconds of the body, from 0 to `most`.
pub(super) fn seconds(
    body: &JsonBody,
    name: &str,
    default: Duration,
    most: Duration,
) -> Result<Duration, ApiError> {
    let Some(asked) = body.number(name)? else { return Ok(default.min(most)) };
    Duration::try_from_secs_f64(asked).ok().filter(|time| *time <= most).ok_or_else(|| {
        ApiError::invalid(name, format!("{name} must be a number of seconds from 0 to {}", most.as_secs()))
    })
}
