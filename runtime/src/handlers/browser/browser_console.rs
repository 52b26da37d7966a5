//! Collected console lines, then cleared.
//!
//! # Request
//! Nothing.
//!
//! # Response
//! `{"logs": [{"type", "text", "timestamp"}]}`, oldest first. Beside what the page writes to its console there are uncaught
//! errors and the browser's own remarks (`error`, `warning`, …), dialogs that were closed (`dialog`) and windows that were
//! not opened (`popup`). `dropped` says how many older lines made room, where any did.
//!
//! # Limits
//! The latest 1000 lines of at most 8 KiB each are kept. `limits.timeout_seconds` (60), of which 30 s are used.
//!
//! # Errors
//! 408 `timeout`; 503 `browser_unavailable`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl http://localhost:9000/browser/console
//! ```

use super::{Time, visit};
use crate::browser::Line;
use crate::endpoint::{Answer, Call, Reply};
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Response {
    logs: Vec<Line>,
    #[serde(skip_serializing_if = "is_zero")]
    dropped: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

pub(crate) async fn call(call: Call) -> Answer {
    let visit = visit(&call, Time::usual(&call)).await?;
    let (logs, dropped) = visit.console().take();
    visit.done();
    Ok(Reply::ok(&Response { logs, dropped }))
}
