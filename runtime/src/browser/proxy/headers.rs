//! Headers that concern one connection and are not passed on.

use axum::http::header::{
    CONNECTION, HeaderMap, HeaderName, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, UPGRADE,
};
use axum::http::{HeaderValue, Request, Response, StatusCode};

const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");
const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");

/// Whether the request wants to become a WebSocket.
pub(super) fn wants_socket<B>(request: &Request<B>) -> bool {
    let is = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"websocket");
    request.headers().get(UPGRADE).is_some_and(is)
}

/// Prepares a request for the next connection, which serves it alone.
pub(super) fn of_request(headers: &mut HeaderMap, socket: bool) {
    strip(headers);
    let next = if socket { "Upgrade" } else { "close" };
    headers.insert(CONNECTION, HeaderValue::from_static(next));
    if socket {
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    }
}

/// Prepares an answer for the browser. One that changes protocols keeps what says so.
pub(super) fn of_response<B>(response: &mut Response<B>) {
    let upgrade = response.headers().get(UPGRADE).cloned();
    strip(response.headers_mut());
    if let Some(upgrade) = upgrade.filter(|_| response.status() == StatusCode::SWITCHING_PROTOCOLS) {
        response.headers_mut().insert(UPGRADE, upgrade);
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    }
}

fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let fixed = [
        CONNECTION,
        KEEP_ALIVE,
        PROXY_AUTHENTICATE,
        PROXY_AUTHORIZATION,
        PROXY_CONNECTION,
        TE,
        TRAILER,
        UPGRADE,
    ];
    for name in named.into_iter().chain(fixed) {
        headers.remove(name);
    }
}
