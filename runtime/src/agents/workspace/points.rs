//! Taking restore points: before and after every turn, and by hand.

use std::sync::Arc;

use serde_json::json;

use super::desk::Desk;
use super::error::WorkspaceError;
use super::records::{self, Checkpoint};
use super::snapshot::Snapshot;
use crate::agents::ids;
use crate::agents::log::Kind as Kinds;
use crate::agents::store::sessions::SessionRow;
use crate::agents::store::{Store, now};
use crate::app::App;
use crate::log;

/// What a restore point is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Before a turn.
    Auto,
    /// A caller asked.
    Manual,
    /// Before a restore.
    Safety,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Manual => "manual",
            Self::Safety => "safety",
        }
    }
}

/// Before a turn begins: keeps the workspace, and notes that from here on the session changes it. A workspace that
/// cannot be kept does not hold the turn up: the restore point says why it is empty. Yields its id.
pub async fn before_turn(app: &Arc<App>, session: &SessionRow, turn_id: &str) -> Option<String> {
    let point = async {
        let desk = Desk::at(app, &session.cwd).await?;
        let snapshot = desk.snapshot(Vec::new()).await;
        let store = app.agents.store().await?;
        let point = point(session, Kind::Auto, None, Some(turn_id), snapshot.as_ref());
        let turn_id = turn_id.to_owned();
        let stored = store.write(move |db| {
            let no = records::insert(db, &point)?;
            records::begin(db, point.session, Some(&turn_id), no)?;
            Ok(Checkpoint { no, ..point })
        });
        Ok::<_, WorkspaceError>(stored.await?)
    };
    match point.await {
        Ok(point) => {
            announce(app, session, &point).await;
            Some(point.checkpoint_id)
        }
        Err(error) => {
            log::say(format_args!("no checkpoint before {turn_id}: {error}"));
            None
        }
    }
}

/// After a turn has ended: notes how the session left its workspace.
pub async fn after_turn(app: &Arc<App>, session: &SessionRow, turn_id: &str) {
    let ended = async {
        let desk = Desk::at(app, &session.cwd).await?;
        let tree = desk.snapshot(Vec::new()).await.ok().map(|snapshot| snapshot.tree.to_string());
        let turn_id = turn_id.to_owned();
        let store = app.agents.store().await?;
        store.write(move |db| records::end_turn(db, &turn_id, tree.as_deref(), now())).await?;
        Ok::<_, WorkspaceError>(())
    };
    if let Err(error) = ended.await {
        log::say(format_args!("the workspace after {turn_id} was not kept: {error}"));
    }
}

/// Keeps the workspace because a caller asks. `named` are paths that take part although they are ignored.
///
/// # Errors
/// It cannot be kept.
pub async fn by_hand(
    app: &Arc<App>,
    session: &SessionRow,
    label: Option<String>,
    named: Vec<Vec<u8>>,
) -> Result<Checkpoint, WorkspaceError> {
    let desk = Desk::at(app, &session.cwd).await?;
    let snapshot = desk.snapshot(named).await?;
    let point = keep(app.agents.store().await?, session, Kind::Manual, label, &snapshot).await?;
    announce(app, session, &point).await;
    Ok(point)
}

/// Stores a snapshot as a restore point.
pub(super) async fn keep(
    store: &Store,
    session: &SessionRow,
    kind: Kind,
    label: Option<String>,
    snapshot: &Snapshot,
) -> Result<Checkpoint, WorkspaceError> {
    let point = point(session, kind, label, None, Ok(snapshot));
    let stored = store.write(move |db| Ok(Checkpoint { no: records::insert(db, &point)?, ..point }));
    Ok(stored.await?)
}

fn point(
    session: &SessionRow,
    kind: Kind,
    label: Option<String>,
    turn_id: Option<&str>,
    snapshot: Result<&Snapshot, &WorkspaceError>,
) -> Checkpoint {
    let taken = snapshot.ok();
    Checkpoint {
        no: 0,
        checkpoint_id: ids::new(ids::CHECKPOINT),
        session: session.no,
        kind: kind.as_str().to_owned(),
        label,
        turn_id: turn_id.map(str::to_owned),
        tree: taken.map(|snapshot| snapshot.tree.to_string()),
        reason: snapshot.err().map(|error| error.reason().to_owned()),
        files: taken.map_or(0, |snapshot| i64::try_from(snapshot.manifest.len()).unwrap_or(i64::MAX)),
        bytes: taken.map_or(0, |snapshot| i64::try_from(snapshot.bytes).unwrap_or(i64::MAX)),
        skipped: taken.map(|snapshot| snapshot.skipped.clone()).unwrap_or_default(),
        created_at: now(),
    }
}

/// Tells the session's log.
pub(super) async fn announce(app: &Arc<App>, session: &SessionRow, point: &Checkpoint) {
    super::tell(
        app,
        session,
        point.turn_id.as_deref(),
        Kinds::CheckpointCreated,
        json!({"checkpoint": point.view()}),
    )
    .await;
}

/// A session is gone: where none is left that works in its directory, so is the shadow store. Call before its row goes.
///
/// # Errors
/// The store fails; the restore points go with the session's row all the same.
pub async fn forget(app: &Arc<App>, session: &SessionRow) -> Result<(), WorkspaceError> {
    let desk = Desk::at(app, &session.cwd).await?;
    let (no, cwd) = (session.no, session.cwd.clone());
    let store = app.agents.store().await?;
    if store.read(move |db| records::used_by_others(db, no, &cwd)).await? {
        return Ok(());
    }
    desk.discard().await
}
