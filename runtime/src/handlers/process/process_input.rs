//! Write to a managed process's stdin from a byte offset, or close it.
//!
//! # Request
//! `{pid}` in the path; `data` (text) or `data_base64`; `offset` of its first byte in the whole input (absent: at the
//! end), which makes it safe to send again; `close` (false) gives the end of file afterwards.
//!
//! # Response
//! `{"pid", "offset", "closed"}`. `offset` is how many bytes were taken in all: less than sent means that the process did
//! not read for five seconds, and the caller goes on from there.
//!
//! # Limits
//! `limits.max_request_bytes` (4 MiB).
//!
//! # Errors
//! 400 `invalid_parameter`; 404 `not_found`; 409 `conflict` where the input is closed or `offset` lies beyond its end.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/process/12345/input -H 'Content-Type: application/json' \
//!   -d '{"data": "hello\n", "offset": 0, "close": true}'
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::managed;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use crate::process::InputError;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let job = managed::job(&call)?;
    let data = match (body.text("data")?, body.text("data_base64")?) {
        (Some(_), Some(_)) => {
            return Err(ApiError::invalid("data_base64", "only one of data and data_base64 may be given"));
        }
        (Some(text), None) => text.into_bytes(),
        (None, Some(text)) => STANDARD
            .decode(text)
            .map_err(|_| ApiError::invalid("data_base64", "data_base64 must be standard base64"))?,
        (None, None) => Vec::new(),
    };
    let offset = body.integer("offset")?.map(u64::try_from).transpose();
    let offset = offset.map_err(|_| ApiError::invalid("offset", "offset must not be negative"))?;
    let close = body.flag("close", false)?;
    if data.is_empty() && !close {
        return Err(ApiError::missing("data"));
    }
    let Some(input) = &job.input else { return Err(refused(InputError::Closed)) };
    let wanted = offset.unwrap_or(0).saturating_add(data.len() as u64);
    let mut taken = 0;
    if !data.is_empty() {
        taken = input.write(offset, &data).await.map_err(refused)?;
    }
    // An input that was not taken whole stays open for the rest.
    let closes = close && (data.is_empty() || offset.is_none() || taken >= wanted);
    if closes {
        taken = input.close().await;
    }
    Ok(Reply::ok(&json!({"pid": job.pid, "offset": taken, "closed": closes})))
}

fn refused(error: InputError) -> ApiError {
    let answer = ApiError::new(ErrorCode::Conflict, error.to_string());
    match error {
        InputError::Gap { taken } => answer.with("offset", taken),
        InputError::Closed => answer,
    }
}
