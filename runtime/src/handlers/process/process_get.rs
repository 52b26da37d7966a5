//! One managed process.
//!
//! # Request
//! `{pid}` in the path; `wait` in the query: seconds to wait for its end.
//!
//! # Response
//! `{"pid", "command", "state", "started_at", "exit_code"}`; `exit_code` is null while it runs. Where a signal ended it,
//! `exit_code` is its number negated and `signal` is there too.
//!
//! # Limits
//! `limits.timeout_seconds` (65) bounds `wait`.
//!
//! # Errors
//! 400 `invalid_parameter`; 404 `not_found`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" 'http://localhost:9000/process/12345?wait=10'
//! ```

use super::super::launch;
use super::managed::{self, Shown};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;

pub(crate) async fn call(call: Call) -> Answer {
    let job = managed::job(&call)?;
    let wait =
        call.query().text("wait")?.map(|text| text.parse::<f64>().map_err(|_| not_a_time())).transpose()?;
    if let Some(wait) = wait.filter(|wait| *wait != 0.0) {
        let time = launch::time(&call, "wait", Some(wait), 0, |limits| limits.timeout_seconds)?;
        // Whether it has ended by then is what the answer says.
        let _ = tokio::time::timeout(time, job.ended()).await;
    }
    Ok(Reply::ok(&Shown::of(&job)))
}

fn not_a_time() -> ApiError {
    ApiError::invalid("wait", "wait must be a number of seconds")
}
