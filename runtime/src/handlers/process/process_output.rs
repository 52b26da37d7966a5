//! Kept output of a managed process from byte offsets; follow=true streams it.
//!
//! # Request
//! `{pid}` in the path; `stdout_offset` and `stderr_offset` (0), `follow` (false), `format` (`lines`; `bytes` with
//! `follow` for lossless events).
//!
//! # Response
//! `{"stdout", "stderr", "stdout_base64", "stderr_base64", "stdout_offset", "stderr_offset", "next_stdout_offset",
//! "next_stderr_offset", "exited"}`. Text is lossy where output is no UTF-8, base64 is exact. An offset older than what is
//! kept gives the oldest kept, and `*_offset` says which that is. With `follow=true` the events of `/shell/stream`.
//!
//! # Limits
//! `limits.max_bytes` of each stream in one answer (4 MiB), `limits.max_duration_seconds` of a stream (3600).
//!
//! # Errors
//! 400 `invalid_parameter`; 404 `not_found`; 409 `conflict` for an offset past the end.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -N -H "X-Access-Token: $ABX_SERVER_TOKEN" 'http://localhost:9000/process/12345/output?follow=true'
//! ```

use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderValue;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt as _;
use serde_json::json;

use super::super::launch;
use super::managed;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use crate::process::Stream;
use crate::sse::{Feed, Style};

pub(crate) async fn call(call: Call) -> Answer {
    let job = managed::job(&call)?;
    let query = call.query();
    let from = [query.count("stdout_offset")?.unwrap_or(0), query.count("stderr_offset")?.unwrap_or(0)];
    let style = match query.text("format")? {
        None | Some("lines") => Style::Lines { offsets: true },
        Some("bytes") => Style::Bytes,
        Some(_) => return Err(ApiError::invalid("format", "format must be lines or bytes")),
    };
    let [stdout, stderr] = from;
    {
        let log = job.log();
        for (stream, name, offset) in
            [(Stream::Stdout, "stdout_offset", stdout), (Stream::Stderr, "stderr_offset", stderr)]
        {
            if offset > log.end(stream) {
                return Err(ApiError::new(
                    ErrorCode::Conflict,
                    format!("{name} lies past the end of the output"),
                )
                .with("parameter", name));
            }
        }
    }
    if query.flag("follow", false)? {
        let longest = launch::limit(&call, |limits| limits.max_duration_seconds, 3600);
        let feed = Feed::new(job, from, style, call.app().stopping.clone(), ());
        let until = Box::pin(tokio::time::sleep(Duration::from_secs(longest)));
        let frames = feed.frames().take_until(until);
        return Ok(Reply::stream(HeaderValue::from_static("text/event-stream"), Body::from_stream(frames)));
    }
    let most =
        usize::try_from(launch::limit(&call, |limits| limits.max_bytes, 4 << 20)).unwrap_or(usize::MAX);
    // The end is asked first: what it says is then true of the output as well.
    let exited = job.exit().is_some();
    let log = job.log();
    let (stdout_at, stdout) = log.slice(Stream::Stdout, stdout, most);
    let (stderr_at, stderr) = log.slice(Stream::Stderr, stderr, most);
    drop(log);
    Ok(Reply::ok(&json!({
        "stdout": String::from_utf8_lossy(&stdout),
        "stderr": String::from_utf8_lossy(&stderr),
        "stdout_base64": STANDARD.encode(&stdout),
        "stderr_base64": STANDARD.encode(&stderr),
        "stdout_offset": stdout_at,
        "stderr_offset": stderr_at,
        "next_stdout_offset": stdout_at + stdout.len() as u64,
        "next_stderr_offset": stderr_at + stderr.len() as u64,
        "exited": exited,
    })))
}
