//! One request to an MCP server: the headers that it always has, the rules that judge it, and what its failure means.

use super::super::check::Why;
use crate::agents::process;
use crate::egress::{Answer, EgressError, Judge, Request, send};
use crate::error::ApiError;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use bytes::Bytes;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Most bytes of one answer.
pub(super) const LARGEST: usize = 4 << 20;

/// What both ways have in common.
pub(super) struct Caller {
    judge: Judge,
    pub(super) headers: HeaderMap,
    time: Duration,
    last: u64,
}

impl Caller {
    pub(super) fn new(judge: &process::Judge, values: &BTreeMap<String, String>, time: Duration) -> Self {
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

    pub(super) async fn call(
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

    pub(super) fn failed(&self, error: EgressError) -> Why {
        match ApiError::url(&self.judge, "url", error) {
            Ok(refused) => Why::Refused(refused),
            Err(EgressError::TimedOut) => Why::TimedOut,
            Err(error) => Why::Broken(error.to_string()),
        }
    }

    pub(super) fn request(&mut self, method: &str, params: Value) -> (u64, Vec<u8>) {
        self.last += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        (self.last, message.to_string().into_bytes())
    }
}

/// A message that is not answered.
pub(super) fn notification(method: &str) -> Vec<u8> {
    json!({"jsonrpc": "2.0", "method": method}).to_string().into_bytes()
}
