//! What a handler gives back when the call succeeds.

use axum::body::Body;
use axum::extract::ws::WebSocket;
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use bytes::Bytes;
use serde::Serialize;
use std::future::Future;
use std::pin::Pin;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A successful answer.
#[derive(Debug)]
pub struct Reply {
    /// Its status.
    pub status: StatusCode,
    /// Its headers; the pipeline adds `X-Request-Id`.
    pub headers: HeaderMap,
    /// Its body.
    pub body: ReplyBody,
}

/// The body of an answer.
#[derive(Debug)]
pub enum ReplyBody {
    /// Held in memory.
    Full(Bytes),
    /// Sent as it comes. The concurrency slot stays taken until its end or until the client has gone.
    Stream(Body),
    /// The connection becomes a WebSocket. The slot stays taken until its work is done.
    WebSocket(WebSocketReply),
}

/// Bytes that a socket reads at once where nobody says.
const READ: usize = 128 * 1024;

type SocketTask = Pin<Box<dyn Future<Output = Parting> + Send>>;

/// What is left of a socket whose work is done: telling the client so. By then its slot is free and its line written.
pub struct Parting(Pin<Box<dyn Future<Output = ()> + Send>>);

impl Parting {
    pub(crate) fn new(farewell: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(Box::pin(farewell))
    }

    pub(crate) async fn say(self) {
        self.0.await;
    }
}

impl std::fmt::Debug for Parting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Parting")
    }
}

/// What becomes of the socket after the upgrade.
pub struct WebSocketReply {
    pub(crate) run: Box<dyn FnOnce(WebSocket) -> SocketTask + Send>,
    pub(crate) max_message_bytes: usize,
    pub(crate) read_bytes: usize,
    pub(crate) protocol: Option<HeaderValue>,
}

impl std::fmt::Debug for WebSocketReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebSocketReply")
            .field("max_message_bytes", &self.max_message_bytes)
            .finish_non_exhaustive()
    }
}

impl Reply {
    /// 200 with a JSON body.
    pub fn ok<T: Serialize + ?Sized>(value: &T) -> Self {
        Self::json(StatusCode::OK, value)
    }

    /// A JSON body under any status.
    pub fn json<T: Serialize + ?Sized>(status: StatusCode, value: &T) -> Self {
        match serde_json::to_vec(value) {
            Ok(text) => Self::full(status, JSON, text),
            // Only a map with keys that are no text can do this; the caller must not get half an answer.
            Err(_) => Self::full(StatusCode::INTERNAL_SERVER_ERROR, JSON, Bytes::from_static(NOT_SHOWN)),
        }
    }

    /// 200 with JSON that is written already.
    #[must_use]
    pub fn json_text(text: &'static str) -> Self {
        Self::full(StatusCode::OK, JSON, Bytes::from_static(text.as_bytes()))
    }

    /// A body held in memory.
    pub fn full(status: StatusCode, content_type: HeaderValue, body: impl Into<Bytes>) -> Self {
        Self::new(status, content_type, ReplyBody::Full(body.into()))
    }

    /// A body sent as it comes, under 200.
    #[must_use]
    pub fn stream(content_type: HeaderValue, body: Body) -> Self {
        Self::new(StatusCode::OK, content_type, ReplyBody::Stream(body))
    }

    /// An upgrade: `run` gets the socket, and leaves the farewell. Only for doors that are declared with `upgrade`.
    pub fn websocket<F>(max_message_bytes: usize, run: impl FnOnce(WebSocket) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Parting> + Send + 'static,
    {
        let run = Box::new(move |socket| Box::pin(run(socket)) as SocketTask);
        let body =
            ReplyBody::WebSocket(WebSocketReply { run, max_message_bytes, read_bytes: READ, protocol: None });
        Self { status: StatusCode::SWITCHING_PROTOCOLS, headers: HeaderMap::new(), body }
    }

    /// Reads so many bytes of the socket at once. The library clears that much memory whenever it looks whether
    /// something has come, so a socket of small frames answers sooner with less.
    #[must_use]
    pub fn reading(mut self, bytes: usize) -> Self {
        if let ReplyBody::WebSocket(socket) = &mut self.body {
            socket.read_bytes = bytes;
        }
        self
    }

    /// Says yes to a subprotocol, where the client has offered it.
    #[must_use]
    pub fn speaking(mut self, protocol: &'static str) -> Self {
        if let ReplyBody::WebSocket(socket) = &mut self.body {
            socket.protocol = Some(HeaderValue::from_static(protocol));
        }
        self
    }

    /// Another status.
    #[must_use]
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// A further header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    fn new(status: StatusCode, content_type: HeaderValue, body: ReplyBody) -> Self {
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(CONTENT_TYPE, content_type);
        Self { status, headers, body }
    }
}

const NOT_SHOWN: &[u8] =
    br#"{"error":"the answer could not be written as JSON","type":"InternalError","code":"internal"}"#;
