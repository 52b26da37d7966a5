//! HTML or text of the page.
//!
//! # Request
//! Query: `type`: `html` (default), the whole document as it is now, or `text`, what is seen of its body.
//!
//! # Response
//! `{"content", "url", "title"}`.
//!
//! # Limits
//! `limits.timeout_seconds` (60), of which 30 s are used; `limits.max_output_bytes` of the content.
//!
//! # Errors
//! 400 `invalid_parameter`; 408 `timeout`; 413 `file_too_large`; 503 `browser_unavailable`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl 'http://localhost:9000/browser/content?type=text'
//! ```

use super::{Time, end, fits, visit};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use tokio::time::timeout_at;

pub(crate) async fn call(call: Call) -> Answer {
    let as_text = match call.query().text("type")? {
        None | Some("html") => false,
        Some("text") => true,
        Some(_) => return Err(ApiError::invalid("type", "type must be html or text")),
    };
    let time = Time::usual(&call);
    let visit = visit(&call, time).await?;
    let outcome = timeout_at(time.deadline, visit.page().content(as_text)).await;
    let content = end(visit, time, outcome)?;
    fits(&call, content.content.len())?;
    Ok(Reply::ok(&content))
}
