//! Type into an element.
//!
//! # Request
//! `selector` (required, as of `/browser/click`), `text` (required), `delay` between two keys in milliseconds (0), `clear` what
//! is there first (false), `timeout` in milliseconds (5000; also where it is zero or less).
//!
//! # Response
//! `{"typed": true, "selector", "text"}`. Each character is a key that goes down and up; one that is on no key of a US
//! keyboard is put in as it is. A line break is the Enter key.
//!
//! # Limits
//! `limits.timeout_seconds` (60).
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`; 408 `timeout`; 503 `browser_unavailable`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/browser/type -H 'Content-Type: application/json' \
//!   --json '{"selector": "#name", "text": "Ada", "clear": true}'
//! ```

use super::{Time, end, visit};
use crate::browser::Typing;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use serde::Serialize;
use std::time::Duration;
use tokio::time::timeout_at;

/// How long it may take where nobody says, in milliseconds.
const TIMEOUT: u64 = 5_000;

#[derive(Debug, Serialize)]
struct Response {
    typed: bool,
    selector: String,
    text: String,
}

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let selector = body.required_text("selector")?;
    let text = body.text("text")?.ok_or_else(|| ApiError::missing("text"))?;
    let clear = body.flag("clear", false)?;
    let delay = Duration::try_from_secs_f64(body.number("delay")?.unwrap_or_default() / 1000.0)
        .map_err(|_| ApiError::invalid("delay", "delay must be a number of milliseconds, zero or more"))?;
    let time = Time::asked(&call, &body, TIMEOUT)?;
    let visit = visit(&call, time).await?;
    let typing = Typing { selector: &selector, text: &text, delay, clear, time: time.asked };
    let outcome = timeout_at(time.deadline, visit.page().type_text(&typing)).await;
    end(visit, time, outcome)?;
    Ok(Reply::ok(&Response { typed: true, selector, text }))
}
