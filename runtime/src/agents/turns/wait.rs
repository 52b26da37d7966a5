//! Waiting for a turn to end, or to need somebody.

use super::is_over;
use crate::agents::store::turns::{self, TurnRow};
use crate::app::App;
use crate::error::ApiError;
use tokio::time::Instant;

/// Until when a turn is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Until {
    /// Until it has ended.
    #[default]
    Done,
    /// Until it has ended or waits for somebody.
    Attention,
}

impl Until {
    fn is_met(self, row: &TurnRow) -> bool {
        is_over(&row.state) || (self == Self::Attention && row.state == super::WAITING)
    }
}

/// The turn as it is when the condition is met, or at `deadline`.
///
/// # Errors
/// 404 `turn_not_found`, also where it goes away meanwhile; those of the store.
pub async fn wait(
    app: &App,
    session: i64,
    turn_id: &str,
    until: Until,
    deadline: Instant,
) -> Result<TurnRow, ApiError> {
    let store = app.agents.store().await?;
    // Before it is looked: what changes in between rings.
    let mut changes = app.agents.live.changes();
    loop {
        changes.mark_unchanged();
        let name = turn_id.to_owned();
        let row = store.read(move |db| turns::find(db, &name)).await?;
        let row = row.filter(|row| row.session == session).ok_or_else(|| super::not_found(turn_id))?;
        if until.is_met(&row) || Instant::now() >= deadline {
            return Ok(row);
        }
        tokio::select! {
            _ = changes.changed() => {}
            () = tokio::time::sleep_until(deadline) => {}
            () = app.stopping.cancelled() => return Ok(row),
        }
    }
}
