//! One HTTP/1.1 request over one connection: no redirect, no proxy, no cookie, no compression.

use super::connect::connect;
use super::error::EgressError;
use super::judge::{Judge, Place};
use axum::http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, USER_AGENT};
use axum::http::{self, HeaderMap, HeaderValue, Method, StatusCode, Uri};
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::AbortOnDropHandle;

/// Who asks, to the other end.
const AGENT: HeaderValue = HeaderValue::from_static("agent-sandbox-server");

/// What is asked.
#[derive(Debug)]
pub struct Request<'a> {
    /// The method.
    pub method: Method,
    /// Where.
    pub url: &'a str,
    /// Further headers; the client's own (`host`, `connection`, `content-length`) win.
    pub headers: HeaderMap,
    /// The body; empty for none.
    pub body: Bytes,
    /// From the look-up of the name to the last byte of the answer.
    pub time: Duration,
}

/// What came back. Dropping it closes the connection.
#[derive(Debug)]
pub struct Answer {
    /// Its status; a redirect is an answer like any other.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    body: Incoming,
    deadline: Instant,
    _connection: AbortOnDropHandle<()>,
}

/// Judges, resolves, connects and asks.
///
/// # Errors
/// Any [`EgressError`]; a status of 400 or more is none.
pub async fn send(judge: &Judge, request: Request<'_>) -> Result<Answer, EgressError> {
    let deadline = Instant::now() + request.time;
    timeout_at(deadline, async {
        let place = judge.place(request.url).await?;
        exchange(&place, request, deadline).await
    })
    .await
    .map_err(|_| EgressError::TimedOut)?
}

async fn exchange(place: &Place, request: Request<'_>, deadline: Instant) -> Result<Answer, EgressError> {
    let connection = connect(place).await?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(connection)).await.map_err(|_| EgressError::Protocol)?;
    let connection = AbortOnDropHandle::new(tokio::spawn(async move {
        // What goes wrong here reaches the request or the body.
        let _ = connection.await;
    }));
    let message = message(place, request)?;
    let answer = sender.send_request(message).await.map_err(|_| EgressError::Protocol)?;
    let (parts, body) = answer.into_parts();
    Ok(Answer { status: parts.status, headers: parts.headers, body, deadline, _connection: connection })
}

/// The request as it is written: path and query as target, the host as the URL has it.
fn message(place: &Place, request: Request<'_>) -> Result<http::Request<Full<Bytes>>, EgressError> {
    let url = place.url();
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let host = url.host_str().unwrap_or_default();
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let malformed = |_| EgressError::Malformed;
    let mut message = http::Request::new(Full::new(request.body.clone()));
    *message.method_mut() = request.method;
    *message.uri_mut() = target.parse::<Uri>().map_err(|_| EgressError::Malformed)?;
    let headers = message.headers_mut();
    *headers = request.headers;
    headers.remove(CONTENT_LENGTH);
    headers.entry(USER_AGENT).or_insert(AGENT);
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    headers.insert(HOST, HeaderValue::from_str(&host).map_err(malformed)?);
    Ok(message)
}

impl Answer {
    /// The next piece of the body; `None` at its end.
    ///
    /// # Errors
    /// [`EgressError::TimedOut`], or [`EgressError::Protocol`] where the other end hangs up half-way.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, EgressError> {
        loop {
            let frame = timeout_at(self.deadline, self.body.frame()).await;
            let Some(frame) = frame.map_err(|_| EgressError::TimedOut)? else { return Ok(None) };
            // Trailers are passed over.
            if let Ok(bytes) = frame.map_err(|_| EgressError::Protocol)?.into_data() {
                return Ok(Some(bytes));
            }
        }
    }

    /// The whole body, which must not be larger than `most` bytes.
    ///
    /// # Errors
    /// As [`Self::chunk`], and [`EgressError::TooLarge`].
    pub async fn bytes(&mut self, most: u64) -> Result<Bytes, EgressError> {
        let mut whole = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            if (whole.len() + chunk.len()) as u64 > most {
                return Err(EgressError::TooLarge(most));
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.freeze())
    }
}
