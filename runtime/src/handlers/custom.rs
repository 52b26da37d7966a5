//! A route that a template registers: the request goes to the worker, its answer to the client.
//!
//! The template's function gets method, path, query, headers, JSON body, path parameters and the caller's id. Credentials
//! are left out. A stream is sent event by event and only as fast as the client takes it. `limits.timeout_seconds` (300
//! for what is no stream) bounds a call; one that takes longer costs its worker.

mod answer;
mod events;

use super::launch;
use crate::commands::{Event, WorkerError};
use crate::custom::CustomRoutes;
use crate::endpoint::{Answer, Call, Intake};
use crate::error::{ApiError, ErrorCode};
use axum::http::StatusCode;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// How long a call may take where nobody says.
const TIMEOUT: u64 = 300;

/// Headers that carry credentials: the template's code is not told them.
const CREDENTIALS: [&str; 5] =
    ["authorization", "x-access-token", "x-api-key", "proxy-authorization", "sec-websocket-protocol"];

pub(crate) async fn call(mut call: Call) -> Answer {
    let route = CustomRoutes::position(call.permit().endpoint());
    let limit = call.permit().rules().and_then(|rules| rules.limits.timeout_seconds);
    let time = Duration::from_secs(limit.map_or(TIMEOUT, |limit| limit.value));
    let until = tokio::time::Instant::now().checked_add(time);
    let until = until.ok_or_else(|| ApiError::internal("The time limit cannot be counted"))?;
    if let Some(function) = route.and_then(|at| call.app().commands.functions.get(at)).cloned() {
        let answer = tokio::time::timeout_at(until, (function.0)(call)).await;
        return answer.unwrap_or_else(|_| Err(launch::timed_out(StatusCode::INTERNAL_SERVER_ERROR, time)));
    }
    let request = request(&mut call)?;
    let worker = call.app().commands.worker.clone();
    let (Some(route), Some(worker)) = (route, worker) else {
        return Err(ApiError::internal("The route has no function"));
    };
    let call_it = worker.call(json!({"route": route, "request": request}));
    let mut pending = call_it.await.map_err(|error| unavailable(&error))?;
    let Ok(event) = tokio::time::timeout_at(until, pending.next()).await else {
        pending.give_up();
        return Err(launch::timed_out(StatusCode::INTERNAL_SERVER_ERROR, time));
    };
    match event {
        Event::Response(response) => answer::reply(response),
        Event::Stream(head) => {
            let stopping = call.app().stopping.clone();
            answer::stream(&head, events::frames(pending, limit.map(|_| until), stopping))
        }
        other => Err(failed(other)),
    }
}

/// The answer to a call that could not be made.
pub(super) fn unavailable(error: &WorkerError) -> ApiError {
    match error {
        WorkerError::NotRunning => {
            ApiError::new(ErrorCode::SpawnFailed, error.to_string()).kind("RuntimeError").retry_after(1)
        }
        WorkerError::TooLarge => ApiError::new(ErrorCode::RequestTooLarge, error.to_string()),
    }
}

/// The answer to a call that yielded nothing: the exception's name is its type.
pub(super) fn failed(event: Event) -> ApiError {
    match event {
        Event::Raised { kind, message } => {
            let named = !kind.is_empty() && kind.len() <= 200;
            ApiError::internal(message).kind(if named { kind } else { "Exception".to_owned() })
        }
        Event::Gone => {
            ApiError::internal("The commands worker ended while it ran this call").kind("RuntimeError")
        }
        _ => ApiError::internal("The commands worker answered something else than was asked"),
    }
}

/// What the template's function is given.
fn request(call: &mut Call) -> Result<Value, ApiError> {
    let has_body = call.headers().get("content-length").is_some_and(|length| length.as_bytes() != b"0");
    let body = match call.intake {
        Intake::Json(_) if has_body => Value::Object(call.json().into_members()),
        _ => Value::Null,
    };
    let mut headers = Map::new();
    for (name, value) in call.headers() {
        let value = String::from_utf8_lossy(value.as_bytes());
        if CREDENTIALS.contains(&name.as_str()) {
            continue;
        }
        match headers.get_mut(name.as_str()) {
            // Lines of one name are one list.
            Some(Value::String(earlier)) => earlier.extend([", ", &*value]),
            _ => drop(headers.insert(name.as_str().to_owned(), value.into())),
        }
    }
    let query: Map<String, Value> = call.query().pairs().map(|(name, value)| (name, value.into())).collect();
    let mut path_params = Map::new();
    for name in call.params() {
        path_params.insert((*name).to_owned(), call.param(name)?.into());
    }
    Ok(json!({
        "method": call.door().method.as_str(),
        "path": call.path(),
        "query": query,
        "headers": headers,
        "body": body,
        "path_params": path_params,
        "identity": &*call.principal().id,
    }))
}
