//! BROWSER: a page for each identity, in one headless Chromium (see [`crate::browser`]). Closed until a rule opens it.
//!
//! Calls of one identity take turns; the wait for the turn counts as time of the call. A page that crashed or hung is
//! replaced at the next call. Dialogs are closed at once and windows that a page opens unseen; the console tells of both.
//!
//! Under root the browser runs without its own sandbox, which cannot work there: a page that breaks out of the browser's
//! renderer is then a process of the container like any command. Under another user it runs in its sandbox, unless the
//! container gives it none, which the log says.

pub(super) mod browser_click;
pub(super) mod browser_console;
pub(super) mod browser_content;
pub(super) mod browser_evaluate;
pub(super) mod browser_navigate;
pub(super) mod browser_pdf;
pub(super) mod browser_screenshot;
pub(super) mod browser_type;

use super::launch;
use crate::browser::{BrowserError, Visit};
use crate::endpoint::{Call, JsonBody};
use crate::error::{ApiError, ErrorCode};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio::time::error::Elapsed;

/// How long a call may take that names no time of its own, in milliseconds.
const TIMEOUT: u64 = 30_000;

/// How much longer than asked for a call may take, so that what kept an element from being used can be told.
const GRACE: Duration = Duration::from_millis(500);

/// The time of a call and when it is over.
#[derive(Debug, Clone, Copy)]
struct Time {
    asked: Duration,
    deadline: Instant,
}

impl Time {
    fn new(asked: Duration) -> Self {
        Self { asked, deadline: Instant::now() + asked + GRACE }
    }

    /// What the rules give a call that names none.
    fn usual(call: &Call) -> Self {
        let most = launch::limit(call, |limits| limits.timeout_seconds, u64::MAX);
        Self::new(Duration::from_millis(TIMEOUT.min(most.saturating_mul(1000))))
    }

    /// The member `timeout`, in milliseconds; `default` where it is absent, zero or less.
    ///
    /// # Errors
    /// 400 for what is no number, and for more than the rules allow.
    fn asked(call: &Call, body: &JsonBody, default: u64) -> Result<Self, ApiError> {
        let most = launch::limit(call, |limits| limits.timeout_seconds, u64::MAX).saturating_mul(1000);
        let asked = body.number("timeout")?.filter(|asked| *asked > 0.0);
        let Some(asked) = asked else { return Ok(Self::new(Duration::from_millis(default.min(most)))) };
        let time = Duration::try_from_secs_f64(asked / 1000.0).unwrap_or(Duration::MAX);
        if time > Duration::from_millis(most) {
            let message = format!("timeout must be at most {most} milliseconds");
            return Err(ApiError::invalid("timeout", message).with("limit", most));
        }
        // An unlimited rule and an endless time: as long as a clock can count.
        Ok(Self::new(time.min(Duration::from_secs(86_400))))
    }
}

/// The caller's page, once it is the call's turn.
fn visit(call: &Call, time: Time) -> impl Future<Output = Result<Visit, ApiError>> + use<> {
    let (app, who) = (Arc::clone(call.app()), Arc::clone(call.principal()));
    async move {
        match tokio::time::timeout_at(time.deadline, app.browsers.visit(&app, &who.id)).await {
            Ok(Ok(visit)) => Ok(visit),
            Ok(Err(error)) => Err(refused(error)),
            Err(_) => Err(timed_out(time)),
        }
    }
}

/// Ends the turn and gives what the call came to.
fn end<T>(
    visit: Visit,
    time: Time,
    outcome: Result<Result<T, BrowserError>, Elapsed>,
) -> Result<T, ApiError> {
    if let Ok(outcome) = outcome {
        visit.done();
        return outcome.map_err(refused);
    }
    // Its turn lasts until the page is free again; the answer need not wait for that.
    tokio::spawn(visit.recover());
    Err(timed_out(time))
}

/// An answer no larger than `limits.max_output_bytes`.
fn fits(call: &Call, bytes: usize) -> Result<(), ApiError> {
    let limit = launch::limit(call, |limits| limits.max_output_bytes, u64::MAX);
    if bytes as u64 <= limit {
        return Ok(());
    }
    Err(refused(BrowserError::TooLarge { what: "The answer", limit, unit: "bytes" }))
}

fn timed_out(time: Time) -> ApiError {
    ApiError::new(ErrorCode::Timeout, format!("Timed out after {} ms", time.asked.as_millis()))
}

fn refused(error: BrowserError) -> ApiError {
    let message = error.to_string();
    match error {
        BrowserError::Unavailable(_) | BrowserError::Ended(_) => {
            ApiError::new(ErrorCode::BrowserUnavailable, message)
        }
        BrowserError::TimedOut(_) => ApiError::new(ErrorCode::Timeout, message),
        BrowserError::Selector(_) => ApiError::invalid("selector", message),
        BrowserError::Script { class, .. } => ApiError::invalid("script", message).kind(class),
        BrowserError::Url(_) => ApiError::invalid("url", message),
        BrowserError::Navigation(_) => ApiError::new(ErrorCode::NavigationFailed, message),
        BrowserError::Refused { rule } => {
            ApiError::new(ErrorCode::UrlNotAllowed, "Refused by policy: url_not_allowed")
                .with("endpoint", "browser_navigate")
                .rule(rule)
        }
        BrowserError::TooLarge { limit, .. } => {
            ApiError::new(ErrorCode::FileTooLarge, message).with("limit", limit)
        }
        BrowserError::Protocol(_) => ApiError::internal(message),
    }
}
