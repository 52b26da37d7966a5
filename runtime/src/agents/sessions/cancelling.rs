//! Cancelling a turn and waiting for what comes of it.

use super::actor::{GRACE, LAST};
use crate::agents::store::turns::TurnRow;
use crate::agents::turns::wait::{Until, wait};
use crate::app::App;
use crate::error::ApiError;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long an agent may take to stop where nobody says.
pub const USUAL: Duration = GRACE;

/// How long it may take until a process that was killed is gone.
const GONE: Duration = Duration::from_secs(8);

/// A turn that was cancelled.
#[derive(Debug)]
pub struct Done {
    /// As it is now; it has ended unless the agent ignores everything and must not be killed.
    pub turn: TurnRow,
    /// Requests that were answered as cancelled.
    pub requests: Vec<String>,
}

/// Cancels a turn and waits for its end, as long as all the steps may take.
///
/// # Errors
/// 404 `turn_not_found`, 409 `turn_finished`.
pub async fn cancel(
    app: &Arc<App>,
    session_id: &str,
    session: i64,
    turn_id: &str,
    grace: Duration,
    force: bool,
) -> Result<Done, ApiError> {
    let name = turn_id.to_owned();
    let cancelled = app
        .agents
        .live
        .ask(app, session_id, move |actor| Box::pin(actor.cancel_turn(name, grace, force)))
        .await??;
    let deadline = Instant::now() + grace + if force { LAST + GONE } else { LAST };
    let turn = wait(app, session, turn_id, Until::Done, deadline).await?;
    Ok(Done { turn, requests: cancelled.requests })
}
