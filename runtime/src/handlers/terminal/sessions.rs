//! Finds the session that a call names, for its owner alone, and shows it.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use serde::Serialize;

use crate::endpoint::Call;
use crate::error::ApiError;
use crate::pty::Session;

/// A session as every answer shows it.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    id: String,
    pid: i32,
    created_at: f64,
    cols: u16,
    rows: u16,
    alive: bool,
    attached: bool,
}

impl Shown {
    pub(super) fn of(session: &Session) -> Self {
        let (cols, rows) = session.size();
        Self {
            id: session.id.clone(),
            pid: session.job.pid,
            created_at: session
                .job
                .started_at
                .duration_since(UNIX_EPOCH)
                .map_or(0.0, |since| since.as_secs_f64()),
            cols,
            rows,
            alive: session.alive(),
            attached: session.is_attached(),
        }
    }
}

/// The session of that id.
///
/// # Errors
/// 404, the same whether there is none or it is another's.
pub(super) fn find(call: &Call, id: &str) -> Result<Arc<Session>, ApiError> {
    call.app()
        .terminals
        .get(id, |owner| call.principal().sees(owner))
        .ok_or_else(|| ApiError::not_found("NotFoundError", "No terminal session has this id"))
}
