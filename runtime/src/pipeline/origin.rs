//! Between steps 2 and 3: is the request meant for this server, and does it come from a program.
//!
//! A web page in the user's browser can reach a loopback server, but it cannot hide its `Origin` nor choose its `Host`.

use crate::app::Settings;
use crate::error::{ApiError, ErrorCode};
use axum::http::header::{CONNECTION, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Version};
use std::net::IpAddr;

/// Judges `Host`, `Origin` and the version.
///
/// # Errors
/// 400 `invalid_parameter` for a missing, doubled or malformed `Host` and for HTTP/1.0 with keep-alive, 421
/// `host_not_allowed` for a foreign name while bound to loopback, 403 `origin_not_allowed`.
pub(super) fn judge(settings: &Settings, parts: &Parts) -> Result<(), ApiError> {
    let headers = &parts.headers;
    let host = host(headers)?;
    if settings.is_loopback() && !is_ours(host, settings) {
        let message = "The Host header names another server; --allow-host adds a name";
        return Err(ApiError::new(ErrorCode::HostNotAllowed, message));
    }
    if parts.version == Version::HTTP_10 && headers.contains_key(CONNECTION) {
        return Err(ApiError::invalid("Connection", "HTTP/1.0 connections are not kept alive"));
    }
    let refused = |origin: &HeaderValue| !settings.allow_origins.iter().any(|known| origin == known.as_str());
    if headers.get_all(ORIGIN).iter().any(refused) {
        let message = "Requests from web pages are refused; --allow-origin names an origin";
        return Err(ApiError::new(ErrorCode::OriginNotAllowed, message));
    }
    Ok(())
}

/// The host without the port.
fn host(headers: &HeaderMap) -> Result<&str, ApiError> {
    let wrong = |message: &'static str| ApiError::invalid("Host", message);
    let mut values = headers.get_all(HOST).iter();
    let value = values.next().ok_or_else(|| wrong("The Host header is missing"))?;
    if values.next().is_some() {
        return Err(wrong("The Host header occurs twice"));
    }
    let malformed = || wrong("The Host header is malformed");
    let text = value.to_str().map_err(|_| malformed())?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    if !text.bytes().all(plain) || text.parse::<Authority>().is_err() {
        return Err(malformed());
    }
    let end = if text.starts_with('[') { text.find(']').map(|at| at + 1) } else { text.find(':') };
    let (host, port) = text.split_at_checked(end.unwrap_or(text.len())).ok_or_else(malformed)?;
    let port_is_fine =
        port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    if host.is_empty() || !port_is_fine { Err(malformed()) } else { Ok(host) }
}

fn is_ours(host: &str, settings: &Settings) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = bare.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback());
    let named = || settings.allow_hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
    is_loopback || host.eq_ignore_ascii_case("localhost") || named()
}
