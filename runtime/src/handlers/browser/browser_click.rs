//! Click an element.
//!
//! # Request
//! `selector` (required): CSS, `text=…`, `xpath=…`, or several with `>>` between them, each looked for within the one before;
//! `timeout` in milliseconds (5000; also where it is zero or less).
//!
//! # Response
//! `{"clicked": true, "selector"}`, once the element was visible, held still, was enabled with nothing in front of it, and
//! was clicked in its middle. Where the click led to another document, that one has been loaded.
//!
//! # Limits
//! `limits.timeout_seconds` (60).
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`; 408 `timeout`, which says what kept the element from being clicked; 503
//! `browser_unavailable`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/browser/click -H 'Content-Type: application/json' -d '{"selector": "text=Log in"}'
//! ```

use super::{Time, end, visit};
use crate::endpoint::{Answer, Call, Reply};
use serde::Serialize;
use tokio::time::timeout_at;

/// How long it may take where nobody says, in milliseconds.
const TIMEOUT: u64 = 5_000;

#[derive(Debug, Serialize)]
struct Response {
    clicked: bool,
    selector: String,
}

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let selector = body.required_text("selector")?;
    let time = Time::asked(&call, &body, TIMEOUT)?;
    let visit = visit(&call, time).await?;
    let outcome = timeout_at(time.deadline, visit.page().click(&selector, time.asked)).await;
    end(visit, time, outcome)?;
    Ok(Reply::ok(&Response { clicked: true, selector }))
}
