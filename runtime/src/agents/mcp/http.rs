//! An MCP server behind a URL: streamable HTTP, and the older HTTP with server-sent events. Every request is judged by the URL
//! rules, and no redirect is followed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::check::{Failed, Found, Line, VERSION, Why, fault, talk};
use crate::agents::process;
use crate::app::App;
use crate::egress::{Answer, EgressError, Judge, Request, send};
use crate::error::ApiError;

/// Most bytes of one answer.
const LARGEST: usize = 4 << 20;

/// What both ways have in common.
struct Caller {
    judge: Judge,
    headers: HeaderMap,
    time: Duration,
    last: u64,
}

impl Caller {
    fn new(judge: &process::Judge, values: &BTreeMap<String, String>, time: Duration) -> Self {
        let mut headers = HeaderMap::new();
        for (name, value) in values {
            if let (Ok(name), Ok(value)) =
                (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
            {
                headers.insert(name, value);
            }
        }
        Self { judge: Judge::under(&judge.state, judge.endpoint), headers, time, last: 0 }
    }

    async fn call(
        &self,
        method: Method,
        url: &str,
        accept: &'static str,
        body: Vec<u8>,
    ) -> Result<Answer, Why> {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        if !body.is_empty() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let request = Request { method, url, headers, body: Bytes::from(body), time: self.time };
        let answer = send(&self.judge, request).await.map_err(|error| self.failed(error))?;
        if answer.status.is_success() {
            Ok(answer)
        } else {
            Err(Why::Broken(format!("the server answered {}", answer.status.as_u16())))
        }
    }

    fn failed(&self, error: EgressError) -> Why {
        match ApiError::url(&self.judge, "url", error) {
            Ok(refused) => Why::Refused(refused),
            Err(EgressError::TimedOut) => Why::TimedOut,
            Err(error) => Why::Broken(error.to_string()),
        }
    }

    fn request(&mut self, method: &str, params: Value) -> (u64, Vec<u8>) {
        self.last += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        (self.last, message.to_string().into_bytes())
    }
}

fn notification(method: &str) -> Vec<u8> {
    json!({"jsonrpc": "2.0", "method": method}).to_string().into_bytes()
}

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
                let mut events = Events::new(answer);
                loop {
                    let (_, data) = events.next(&self.caller).await?;
                    if let Some(outcome) = outcome_of(&data, id) {
                        break outcome;
                    }
                }
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
            loop {
                let (_, data) = self.stream.next(&self.caller).await?;
                if let Some(outcome) = outcome_of(&data, id) {
                    return outcome;
                }
            }
        })
    }

    fn tell<'a>(&'a mut self, method: &'a str) -> BoxFuture<'a, Result<(), Why>> {
        Box::pin(async move {
            self.caller.call(Method::POST, &self.post, "*/*", notification(method)).await.map(drop)
        })
    }
}

/// The outcome of request `id`, where `text` is the answer to it.
fn outcome_of(text: &str, id: u64) -> Option<Result<Value, Why>> {
    let message: Value = serde_json::from_str(text).ok()?;
    if message.get("id").and_then(Value::as_u64) != Some(id) {
        return None;
    }
    match (message.get("result"), message.get("error")) {
        (_, Some(error)) => Some(Err(fault(error))),
        (Some(result), None) => Some(Ok(result.clone())),
        (None, None) => None,
    }
}

/// Server-sent events of an answer, one after the other.
struct Events {
    answer: Answer,
    buffer: Vec<u8>,
}

impl Events {
    const fn new(answer: Answer) -> Self {
        Self { answer, buffer: Vec::new() }
    }

    /// The name and the data of the next event.
    async fn next(&mut self, caller: &Caller) -> Result<(String, String), Why> {
        loop {
            if let Some(event) = cut(&mut self.buffer) {
                if !event.1.is_empty() {
                    return Ok(event);
                }
                continue;
            }
            if self.buffer.len() > LARGEST {
                return Err(Why::Broken("the answer is too large".to_owned()));
            }
            match self.answer.chunk().await.map_err(|error| caller.failed(error))? {
                // Line ends of every kind become the one.
                Some(chunk) => self.buffer.extend(chunk.iter().copied().filter(|byte| *byte != b'\r')),
                None => return Err(Why::Broken("the server hung up".to_owned())),
            }
        }
    }
}

/// Takes the first whole event off the buffer.
fn cut(buffer: &mut Vec<u8>) -> Option<(String, String)> {
    let end = memchr::memmem::find(buffer, b"\n\n")?;
    let block: Vec<u8> = buffer.drain(..end + 2).collect();
    let (mut name, mut data) = (String::new(), Vec::new());
    for line in String::from_utf8_lossy(&block).lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => name = value.to_owned(),
            "data" => data.push(value.to_owned()),
            _ => {}
        }
    }
    Some((name, data.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_cut_where_they_end() {
        let mut buffer =
            b": hello\n\nevent: endpoint\ndata: /post\n\ndata: a\ndata:b\nid: 1\n\ndata: half".to_vec();
        let pair = |name: &str, data: &str| Some((name.to_owned(), data.to_owned()));
        assert_eq!(cut(&mut buffer), pair("", ""));
        assert_eq!(cut(&mut buffer), pair("endpoint", "/post"));
        assert_eq!(cut(&mut buffer), pair("", "a\nb"));
        assert_eq!(cut(&mut buffer), None);
        assert_eq!(buffer, b"data: half");
    }

    #[test]
    fn only_the_answer_to_our_request_is_its_outcome() {
        assert!(outcome_of(r#"{"id":2,"result":{}}"#, 1).is_none());
        assert!(outcome_of(r#"{"method":"ping","id":1}"#, 1).is_none());
        assert!(outcome_of("no json", 1).is_none());
        assert!(matches!(outcome_of(r#"{"id":1,"error":{"message":"no"}}"#, 1), Some(Err(Why::Broken(_)))));
        assert!(matches!(outcome_of(r#"{"id":1,"result":{}}"#, 1), Some(Ok(_))));
    }
}
