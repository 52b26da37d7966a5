//! Signal a managed process group.
//!
//! # Request
//! `{pid}` in the path; `signal` (required): a number, or a name with or without `SIG`.
//!
//! # Response
//! `{"pid", "signal"}`.
//!
//! # Limits
//! Only SIGINT (2), SIGKILL (9), SIGTERM (15), SIGCONT (18) and SIGTSTP (20) can be sent at all.
//!
//! # Errors
//! 400 `invalid_parameter`; 403 `signal_not_allowed`, also for process 1 and the server itself; 404 `not_found`, also
//! for a process that has ended.
//!
//! # Policy
//! `params.allowed_signals`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/process/12345/signal -H 'Content-Type: application/json' -d '{"signal": 15}'
//! ```

use std::sync::Arc;

use serde_json::{Value, json};

use super::managed;
use crate::endpoint::{Answer, Call, JsonBody, Reply};
use crate::error::{ApiError, ErrorCode};
use crate::process::signals;

/// What the source document's clients may send; no rule goes beyond it.
const CEILING: [u8; 5] = [2, 9, 15, 18, 20];

pub(crate) async fn call(mut call: Call) -> Answer {
    let body = call.json();
    let pid = managed::pid(&call)?;
    let number = signal(&body, &CEILING)?;
    let mut query = call.permit().query();
    query.signal = Some(number);
    call.permit().check(&query)?;
    if pid == 1 || u32::try_from(pid) == Ok(std::process::id()) {
        return Err(ApiError::new(ErrorCode::SignalNotAllowed, "This process cannot be signalled")
            .with("endpoint", call.declared().name)
            .rule("default:base"));
    }
    let (processes, principal) = (Arc::clone(&call.app().processes), Arc::clone(call.principal()));
    let job = processes.managed(pid, |owner| principal.sees(owner));
    // What is left of a group, and orphans, are found by reading the whole process table.
    let sent = tokio::task::spawn_blocking(move || match job {
        Some(job) => job.signal(number),
        None => processes.signal_orphan(pid, number, |owner| principal.sees(owner)),
    });
    if sent.await.unwrap_or(false) {
        Ok(Reply::ok(&json!({"pid": pid, "signal": number})))
    } else {
        Err(managed::unknown(pid))
    }
}

/// The signal of the body.
fn signal(body: &JsonBody, ceiling: &[u8]) -> Result<u8, ApiError> {
    let number = match body.get("signal") {
        None => return Err(ApiError::missing("signal")),
        Some(Value::String(name)) => signals::by_name(name),
        Some(Value::Number(number)) => number.as_u64().and_then(|number| u8::try_from(number).ok()),
        Some(_) => None,
    };
    number
        .filter(|number| ceiling.contains(number))
        .ok_or_else(|| ApiError::invalid("signal", format!("signal must be one of {ceiling:?}, or its name")))
}
