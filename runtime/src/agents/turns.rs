//! Turns: one prompt and all that follows until the agent stops. One runs a session; the rest wait in its queue.
//!
//! | module | |
//! |---|---|
//! | `prompt` | what a caller wants said |
//! | `attach` | files that go with it, into the session's scratch folder |
//! | `queue` | which turn is next |
//! | `rows` | turns in the store |
//! | `view` | a turn as callers see it |
//! | `wait` | waiting for its end, or for it to need somebody |

pub mod attach;
pub mod prompt;
pub mod queue;
pub mod rows;
pub mod view;
pub mod wait;

use super::log::Kind;
use crate::error::{ApiError, ErrorCode};

/// It waits in the queue.
pub const QUEUED: &str = "queued";
/// Its prompt is open.
pub const RUNNING: &str = "running";
/// Its prompt is open, and it waits for somebody.
pub const WAITING: &str = "waiting";
/// The agent has stopped by itself.
pub const COMPLETED: &str = "completed";
/// Somebody wanted it to end.
pub const CANCELLED: &str = "cancelled";
/// The agent failed.
pub const FAILED: &str = "failed";
/// The agent or the server died.
pub const INTERRUPTED: &str = "interrupted";

/// Every state.
pub const STATES: [&str; 7] = [QUEUED, RUNNING, WAITING, COMPLETED, CANCELLED, FAILED, INTERRUPTED];

/// Whether a turn of this state is over.
#[must_use]
pub fn is_over(state: &str) -> bool {
    matches!(state, COMPLETED | CANCELLED | FAILED | INTERRUPTED)
}

/// The event that says so.
#[must_use]
pub fn ending_kind(state: &str) -> Kind {
    match state {
        COMPLETED => Kind::TurnCompleted,
        CANCELLED => Kind::TurnCancelled,
        INTERRUPTED => Kind::TurnInterrupted,
        _ => Kind::TurnFailed,
    }
}

/// 404 for a turn that is not there.
#[must_use]
pub fn not_found(turn_id: &str) -> ApiError {
    ApiError::new(ErrorCode::TurnNotFound, "No such turn").with("turn_id", turn_id)
}
