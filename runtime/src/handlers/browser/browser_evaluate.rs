//! Evaluate JavaScript.
//!
//! # Request
//! `script` (required): an expression, or statements whose last value counts; a function is called, a promise waited for.
//! `timeout` in milliseconds (10000; also where it is zero or less).
//!
//! # Response
//! `{"result"}`: the value as JSON. Dates become text, big numbers digits, elements `ref: <DIV>`, maps and sets lists, a
//! value within itself `[Circular]`; what is no value elsewhere (`undefined`, symbols) becomes null. For a number that JSON
//! does not have, and a symbol, `unserializable` says what it was: `NaN`, `-Infinity`, `-0`, `12n`.
//!
//! # Limits
//! `limits.timeout_seconds` (60), `limits.max_output_bytes` of the value as JSON. A script that computes for longer than
//! its time is stopped.
//!
//! # Errors
//! 400 `missing_parameter`; 400 `invalid_parameter` with the class of what the script threw as `type`; 408 `timeout`; 413
//! `file_too_large`; 503 `browser_unavailable`.
//!
//! # Policy
//! `limits`. What the script makes the page load is judged by the rules of `browser_navigate`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/browser/evaluate -H 'Content-Type: application/json' -d '{"script": "document.title"}'
//! ```

use super::{Time, end, fits, visit};
use crate::endpoint::{Answer, Call, Reply, ReplyBody};
use tokio::time::timeout_at;

/// How long it may take where nobody says, in milliseconds.
const TIMEOUT: u64 = 10_000;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let script = body.required_text("script")?;
    let time = Time::asked(&call, &body, TIMEOUT)?;
    let visit = visit(&call, time).await?;
    let outcome = timeout_at(time.deadline, visit.page().evaluate(&script, time.asked)).await;
    let reply = Reply::ok(&end(visit, time, outcome)?);
    if let ReplyBody::Full(bytes) = &reply.body {
        fits(&call, bytes.len())?;
    }
    Ok(reply)
}
