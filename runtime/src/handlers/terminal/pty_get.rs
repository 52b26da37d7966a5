//! One session: alive, exit code, size, output offset, and scrollback from an offset.
//!
//! # Request
//! `{id}` in the path; `offset` in the query: where in the output to begin. Without it no scrollback is sent.
//!
//! # Response
//! `{"id", "pid", "created_at", "cols", "rows", "alive", "attached", "exit_code", "first_offset", "end_offset"}`, with
//! `offset` also `{"data", "data_base64", "offset", "next_offset"}`. Offsets count bytes. An ended session can be looked at
//! for ten minutes.
//!
//! # Limits
//! `limits.max_bytes` of scrollback in one answer (1 MiB).
//!
//! # Errors
//! 400 `invalid_parameter`; 404 `not_found`; 410 `offset_expired` for scrollback no longer kept; 409 `conflict` for an
//! offset past the end.
//!
//! # Policy
//! `limits.max_bytes`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" 'http://localhost:9000/pty/sessions/ID?offset=0'
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::super::launch;
use super::sessions::{self, Shown};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use crate::process::Stream;

#[derive(Debug, Serialize)]
struct Response {
    #[serde(flatten)]
    session: Shown,
    exit_code: Option<i32>,
    first_offset: u64,
    end_offset: u64,
    #[serde(flatten)]
    scrollback: Option<Scrollback>,
}

#[derive(Debug, Serialize)]
struct Scrollback {
    data: String,
    data_base64: String,
    offset: u64,
    next_offset: u64,
}

pub(crate) async fn call(call: Call) -> Answer {
    let session = sessions::find(&call, &call.param("id")?)?;
    let offset = call.query().count("offset")?;
    let most =
        usize::try_from(launch::limit(&call, |limits| limits.max_bytes, 1 << 20)).unwrap_or(usize::MAX);
    let exit_code = session.job.exit().map(|exit| exit.exit_code());
    let shown = Shown::of(&session);
    let log = session.job.log();
    let (first, end) = (log.first(Stream::Stdout), log.end(Stream::Stdout));
    let scrollback = match offset {
        None => None,
        Some(offset) if offset < first => {
            return Err(ApiError::new(
                ErrorCode::OffsetExpired,
                "This part of the scrollback is no longer kept",
            )
            .with("first_offset", first));
        }
        Some(offset) if offset > end => {
            return Err(ApiError::new(ErrorCode::Conflict, "offset lies past the end of the output")
                .with("parameter", "offset"));
        }
        Some(offset) => {
            let (offset, bytes) = log.slice(Stream::Stdout, offset, most);
            Some(Scrollback {
                data: String::from_utf8_lossy(&bytes).into_owned(),
                data_base64: STANDARD.encode(&bytes),
                offset,
                next_offset: offset + bytes.len() as u64,
            })
        }
    };
    drop(log);
    Ok(Reply::ok(&Response { session: shown, exit_code, first_offset: first, end_offset: end, scrollback }))
}
