//! Print the page to PDF.
//!
//! # Request
//! `format` (`A4`): Letter, Legal, Tabloid, Ledger or A0 to A6, whatever the case; `landscape` (false).
//!
//! # Response
//! `{"pdf_base64", "pages"}`: the count of its pages is read from the document.
//!
//! # Limits
//! `limits.timeout_seconds` (60), of which 30 s are used; `limits.max_output_bytes` of the document in base64.
//!
//! # Errors
//! 400 `invalid_parameter`; 408 `timeout`; 413 `file_too_large`; 503 `browser_unavailable`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/browser/pdf -H 'Content-Type: application/json' -d '{"format": "A4"}'
//! ```

use super::{Time, end, fits, visit};
use crate::browser::Paper;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use serde::Serialize;
use tokio::time::timeout_at;

#[derive(Debug, Serialize)]
struct Response {
    pdf_base64: String,
    pages: u64,
}

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let format = body.text("format")?;
    let paper = Paper::named(format.as_deref().unwrap_or("A4"))
        .ok_or_else(|| ApiError::invalid("format", format!("format must be one of {}", Paper::names())))?;
    let landscape = body.flag("landscape", false)?;
    let time = Time::usual(&call);
    let visit = visit(&call, time).await?;
    let outcome = timeout_at(time.deadline, visit.page().print(paper, landscape)).await;
    let printed = end(visit, time, outcome)?;
    fits(&call, printed.base64.len())?;
    Ok(Reply::ok(&Response { pdf_base64: printed.base64, pages: printed.pages }))
}
