//! Files put back on the way to something else: before a turn is repeated, or where a branch begins. It is what
//! `agents_checkpoints_restore` does, so it takes that endpoint's rules and scopes.

use super::workspaces::{self, no_checkpoint, shown};
use crate::agents::process::Judge;
use crate::agents::store::sessions::SessionRow;
use crate::agents::workspace::objects::Oid;
use crate::agents::workspace::records::{self, Checkpoint};
use crate::agents::workspace::undo::{Asked, OnConflict, Outcome, undo};
use crate::app::{App, PolicyState, index};
use crate::endpoint::Call;
use crate::error::{ApiError, ErrorCode};
use policy_lang::decide::Query;
use policy_lang::endpoint::EndpointId;
use std::sync::Arc;
use std::time::Duration;

/// A caller's leave to put files back.
pub(super) struct Leave {
    state: Arc<PolicyState>,
    time: Duration,
}

/// The leave that a call has.
///
/// # Errors
/// The refusal of the policy, for `agents_checkpoints_restore`.
pub(super) fn leave(call: &Call) -> Result<Leave, ApiError> {
    let state = Arc::clone(call.permit().state());
    let judge = Judge { state: Arc::clone(&state), endpoint: index(EndpointId::AgentsCheckpointsRestore) };
    let mut query = Query::of(judge.endpoint);
    query.scopes = Some(&call.principal().scopes);
    judge.ask(&query)?;
    Ok(Leave { state, time: workspaces::time(call) })
}

impl Leave {
    /// Puts the workspace back to what it was before a turn.
    ///
    /// # Errors
    /// 404 `checkpoint_not_found` where nothing was kept then, 409 `session_busy`, 409 `restore_conflict`.
    pub(super) async fn before(self, app: &Arc<App>, row: &SessionRow, turn: &str) -> Result<(), ApiError> {
        let (session, turn) = (row.no, turn.to_owned());
        let found = app.agents.store().await?.read(move |db| records::find(db, session, &turn)).await?;
        self.back_to(app, row, found.ok_or_else(no_checkpoint)?).await
    }

    /// Puts it back to what it was when the turn began that followed one. Behind the last turn there is nothing of the
    /// session to be put back.
    ///
    /// # Errors
    /// As [`Self::before`].
    pub(super) async fn after(self, app: &Arc<App>, row: &SessionRow, turn: &str) -> Result<(), ApiError> {
        let (session, turn) = (row.no, turn.to_owned());
        let read = app.agents.store().await?.read(move |db| {
            Ok(match records::find(db, session, &turn)? {
                None => None,
                Some(own) => Some(records::next_turn(db, session, own.no)?),
            })
        });
        match read.await?.ok_or_else(no_checkpoint)? {
            None => Ok(()),
            Some(point) => self.back_to(app, row, point).await,
        }
    }

    async fn back_to(self, app: &Arc<App>, row: &SessionRow, point: Checkpoint) -> Result<(), ApiError> {
        let target = target(&point)?;
        let asked = Asked {
            dry_run: false,
            scope: Vec::new(),
            on_conflict: OnConflict::Fail,
            time: self.time,
            state: self.state,
        };
        match undo(app, row, &point, target, asked).await? {
            Outcome::Busy => Err(busy()),
            Outcome::Conflict(paths) => Err(conflict(&paths)),
            Outcome::Done(_) => Ok(()),
        }
    }
}

/// What a restore point holds.
///
/// # Errors
/// 404 `checkpoint_not_found` where the workspace could not be kept.
pub(super) fn target(point: &Checkpoint) -> Result<Oid, ApiError> {
    point.tree.as_deref().and_then(|tree| tree.parse().ok()).ok_or_else(no_checkpoint)
}

pub(super) fn busy() -> ApiError {
    ApiError::new(ErrorCode::SessionBusy, "A turn of the session is running")
}

pub(super) fn conflict(paths: &[Vec<u8>]) -> ApiError {
    let names: Vec<String> = paths.iter().map(|path| shown(path)).collect();
    let message = "Files were changed by somebody else since the checkpoint";
    ApiError::new(ErrorCode::RestoreConflict, message).with("conflicts", names)
}
