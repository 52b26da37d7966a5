//! A caller's error: what becomes `{"error", "type", "code", …}`.
//!
//! Errors of a document are diagnostics, errors of the machine are small enums of their modules; this is the third kind.
//! Handlers return it, and only the pipeline turns it into a response.

mod codes;
mod denial;
mod egress;

pub use codes::ErrorCode;

use axum::http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What a handler or a step of the pipeline refuses with. One pointer wide.
#[derive(Debug)]
pub struct ApiError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    code: ErrorCode,
    status: StatusCode,
    kind: Cow<'static, str>,
    message: Cow<'static, str>,
    rule: Option<String>,
    retry_after: Option<u64>,
    header: Option<(HeaderName, HeaderValue)>,
    fields: Map<String, Value>,
}

impl ApiError {
    /// An error of this code. The message is for the caller: no secrets, no argv, no path that the caller did not send.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            code,
            status: code.status(),
            kind: Cow::Borrowed(code.kind()),
            message: message.into(),
            rule: None,
            retry_after: None,
            header: None,
            fields: Map::new(),
        }))
    }

    /// 400 `invalid_parameter`, naming the parameter.
    #[must_use]
    pub fn invalid(parameter: &str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::InvalidParameter, message).with("parameter", parameter)
    }

    /// 400 `missing_parameter`, naming the parameter.
    #[must_use]
    pub fn missing(parameter: &str) -> Self {
        Self::new(ErrorCode::MissingParameter, format!("Missing required parameter: {parameter}"))
            .with("parameter", parameter)
    }

    /// 404 `not_found` of the given type, as the source document has it (`FileNotFoundError`, `NotFoundError`).
    #[must_use]
    pub fn not_found(kind: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::NotFound, message).kind(kind)
    }

    /// 500 `internal`. The message says which step failed, never the details of the machine.
    #[must_use]
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::Internal, message)
    }

    /// The same with a word in front of the message: which of two parameters it is about.
    #[must_use]
    pub fn prefixed(mut self, word: &str) -> Self {
        self.0.message = format!("{word}: {}", self.0.message).into();
        self
    }

    /// Another `type` than the code's own.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<Cow<'static, str>>) -> Self {
        self.0.kind = kind.into();
        self
    }

    /// Another status than the code's own: `timeout` is 500 on `/shell`.
    #[must_use]
    pub fn status(mut self, status: StatusCode) -> Self {
        self.0.status = status;
        self
    }

    /// A further member of the body.
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.0.fields.insert(field.to_owned(), value.into());
        self
    }

    /// The rule that refused; it stands in the body and in the audit line.
    #[must_use]
    pub fn rule(mut self, rule: impl Into<String>) -> Self {
        self.0.rule = Some(rule.into());
        self
    }

    /// Seconds after which the same call may pass; also sent as `Retry-After`.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    /// Its code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// What it says to the caller.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// A further header of the response.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.header = Some((name, value));
        self
    }

    /// The further header.
    #[must_use]
    pub fn further_header(&self) -> Option<&(HeaderName, HeaderValue)> {
        self.0.header.as_ref()
    }

    /// Its status.
    #[must_use]
    pub fn http_status(&self) -> StatusCode {
        self.0.status
    }

    /// The rule that refused.
    #[must_use]
    pub fn rule_name(&self) -> Option<&str> {
        self.0.rule.as_deref()
    }

    /// Seconds for `Retry-After`.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u64> {
        self.0.retry_after
    }

    /// The body. With `detail_id`, data-plane clients also get `detail`, carrying that request id.
    #[must_use]
    pub fn body(&self, detail_id: Option<&str>) -> Vec<u8> {
        let inner = &*self.0;
        let body = Body {
            error: &inner.message,
            kind: &inner.kind,
            code: inner.code.as_str(),
            rule: inner.rule.as_deref(),
            retry_after: inner.retry_after,
            fields: &inner.fields,
            detail: detail_id.map(|error_id| Detail {
                error: &inner.kind,
                message: &inner.message,
                error_id,
            }),
        };
        // Text keys and numbers only: writing them to memory cannot fail.
        serde_json::to_vec(&body).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    #[serde(flatten)]
    fields: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<Detail<'a>>,
}

#[derive(Serialize)]
struct Detail<'a> {
    error: &'a str,
    message: &'a str,
    error_id: &'a str,
}

#[cfg(test)]
mod tests {
    use super::{ApiError, ErrorCode};

    #[test]
    fn body_holds_the_three_members_and_what_was_added() {
        let error = ApiError::new(ErrorCode::EndpointDisabled, "Endpoint is disabled")
            .rule("policy:endpoints.shell")
            .with("endpoint", "shell");
        assert_eq!(
            String::from_utf8(error.body(None)).unwrap(),
            r#"{"error":"Endpoint is disabled","type":"ValueError","code":"endpoint_disabled","rule":"policy:endpoints.shell","endpoint":"shell"}"#
        );
    }

    #[test]
    fn detail_repeats_type_and_message_with_the_request_id() {
        let error = ApiError::missing("path");
        assert_eq!(
            String::from_utf8(error.body(Some("r1"))).unwrap(),
            r#"{"error":"Missing required parameter: path","type":"ValueError","code":"missing_parameter","parameter":"path","detail":{"error":"ValueError","message":"Missing required parameter: path","error_id":"r1"}}"#
        );
    }
}
