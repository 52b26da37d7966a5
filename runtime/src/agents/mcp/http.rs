//! An MCP server behind a URL: streamable HTTP, and the older HTTP with server-sent events. Every request is judged by the URL
//! rules, and no redirect is followed.
//!
//! - `caller`: one request
//! - `events`: server-sent events of an answer

mod caller;
mod events;

use caller::{Caller, LARGEST, notification};
use events::{Events, outcome_of};

use super::check::{Failed, Found, Line, VERSION, Why, talk};
use crate::agents::process;
use crate::app::App;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue, Method};
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Asks over streamable HTTP.
pub(super) async fn streamable(
    _app: &Arc<App>,
    judge: &process::Judge,
    url: &str,
    values: &BTreeMap<String, String>,
    time: Duration,
) -> Result<Found, Failed> {
    let mut line = Streamable { caller: Caller::new(judge, values, time), url: url.to_owned() };
    within(time, talk(&mut line)).await
}

/// Asks over HTTP with server-sent events.
pub(super) async fn events(
    _app: &Arc<App>,
    judge: &process::Judge,
    url: &str,
    values: &BTreeMap<String, String>,
    time: Duration,
) -> Result<Found, Failed> {
    let work = async {
        let caller = Caller::new(judge, values, time);
        let answer = caller.call(Method::GET, url, "text/event-stream", Vec::new()).await?;
        let mut stream = Events::new(answer);
        let place = loop {
            let (name, data) = stream.next(&caller).await?;
            if name == "endpoint" {
                break data;
            }
        };
        let base = url::Url::parse(url).map_err(|_| Why::Broken("the url is none".to_owned()))?;
        let post = base.join(&place).map_err(|_| Why::Broken("the server names no endpoint".to_owned()))?;
        // Headers with secrets go to who they were meant for.
        if post.origin() != base.origin() {
            return Err(Why::Broken("the server names an endpoint elsewhere".to_owned()));
        }
        let mut line = Streamed { caller, post: post.to_string(), stream };
        talk(&mut line).await
    };
    within(time, work).await
}

async fn within(time: Duration, work: impl Future<Output = Result<Found, Why>>) -> Result<Found, Failed> {
    match tokio::time::timeout(time, work).await {
        Ok(outcome) => outcome.map_err(Failed::from),
        Err(_) => Err(Why::TimedOut.into()),
    }
}

struct Streamable {
    caller: Caller,
    url: String,
}

impl Line for Streamable {
    fn ask<'a>(&'a mut self, method: &'a str, params: Value) -> BoxFuture<'a, Result<Value, Why>> {
        Box::pin(async move {
            let (id, body) = self.caller.request(method, params);
            let both = "application/json, text/event-stream";
            let mut answer = self.caller.call(Method::POST, &self.url, both, body).await?;
            // A server may give the conversation a name, and wants to hear it then.
            let session = HeaderName::from_static("mcp-session-id");
            if let Some(given) = answer.headers.get(&session).cloned() {
                self.caller.headers.insert(session, given);
            }
            let kind =
                answer.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
            let result = if kind.starts_with("text/event-stream") {
                Events::new(answer).outcome(&self.caller, id).await
            } else {
                let most = LARGEST as u64;
                let bytes = answer.bytes(most).await.map_err(|error| self.caller.failed(error))?;
                outcome_of(&String::from_utf8_lossy(&bytes), id)
                    .unwrap_or_else(|| Err(Why::Broken("the answer is none of the protocol's".to_owned())))
            }?;
            if method == "initialize" {
                let version = result.get("protocolVersion").and_then(Value::as_str).unwrap_or(VERSION);
                if let Ok(version) = HeaderValue::from_str(version) {
                    self.caller.headers.insert(HeaderName::from_static("mcp-protocol-version"), version);
                }
            }
            Ok(result)
        })
    }

    fn tell<'a>(&'a mut self, method: &'a str) -> BoxFuture<'a, Result<(), Why>> {
        Box::pin(async move {
            let both = "application/json, text/event-stream";
            self.caller.call(Method::POST, &self.url, both, notification(method)).await.map(drop)
        })
    }
}

struct Streamed {
    caller: Caller,
    post: String,
    stream: Events,
}

impl Line for Streamed {
    fn ask<'a>(&'a mut self, method: &'a str, params: Value) -> BoxFuture<'a, Result<Value, Why>> {
        Box::pin(async move {
            let (id, body) = self.caller.request(method, params);
            self.caller.call(Method::POST, &self.post, "*/*", body).await?;
            self.stream.outcome(&self.caller, id).await
        })
    }

    fn tell<'a>(&'a mut self, method: &'a str) -> BoxFuture<'a, Result<(), Why>> {
        Box::pin(async move {
            self.caller.call(Method::POST, &self.post, "*/*", notification(method)).await.map(drop)
        })
    }
}
