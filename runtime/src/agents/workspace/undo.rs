//! Going back to a restore point, so that one can go forth again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use policy_lang::endpoint::EndpointId;
use serde_json::json;

use super::changes::foreign;
use super::desk::Desk;
use super::error::WorkspaceError;
use super::objects::Oid;
use super::points::{self, Kind};
use super::records::{self, Checkpoint};
use super::restore::{self, Done, Plan};
use super::tree;
use super::walk::Skipped;
use crate::agents::log::Kind as Kinds;
use crate::agents::store::now;
use crate::agents::store::sessions::{self, SessionRow};
use crate::app::{App, PolicyState};

/// What becomes of files that somebody else has changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// Nothing is done at all.
    Fail,
    /// They stay as they are.
    Keep,
    /// They are put back as well.
    Overwrite,
}

/// What is asked for.
#[derive(Debug)]
pub struct Asked {
    /// Only say what would be done.
    pub dry_run: bool,
    /// Paths from the top; all where it is empty.
    pub scope: Vec<Vec<u8>>,
    /// See there.
    pub on_conflict: OnConflict,
    /// How long it may take.
    pub time: Duration,
    /// The policy that admitted the call.
    pub state: Arc<PolicyState>,
}

/// What came of it.
#[derive(Debug)]
pub enum Outcome {
    /// A turn is running.
    Busy,
    /// Somebody else has changed these since, and nothing was done.
    Conflict(Vec<Vec<u8>>),
    /// Done, or what would be done.
    Done(Box<Report>),
}

/// What was done.
#[derive(Debug, Default)]
pub struct Report {
    /// Written.
    pub restored: Vec<Vec<u8>>,
    /// Removed.
    pub deleted: Vec<Vec<u8>>,
    /// Left as they are, and why.
    pub skipped: Vec<Skipped>,
    /// Changed by somebody else since.
    pub conflicts: Vec<Vec<u8>>,
    /// How it was before; none for a dry run.
    pub safety: Option<Checkpoint>,
    /// Whether every path that was to be put back was found to be so afterwards.
    pub verified: bool,
}

/// Goes back to `point`, whose tree is `target`.
///
/// # Errors
/// The workspace cannot be kept as it is now, so that there would be no way back; or a store fails.
pub async fn undo(
    app: &Arc<App>,
    session: &SessionRow,
    point: &Checkpoint,
    target: Oid,
    asked: Asked,
) -> Result<Outcome, WorkspaceError> {
    let desk = Desk::at(app, &session.cwd).await?;
    let store = app.agents.store().await?;
    // A turn waits for the desk before it begins, so that none begins from here on.
    let (session_id, from) = (session.session_id.clone(), point.clone());
    let read = store.read(move |db| Ok((sessions::find(db, &session_id)?, records::spans(db, &from)?)));
    let (current, spans) = read.await?;
    if current.is_some_and(|row| matches!(row.state.as_str(), "starting" | "running" | "waiting")) {
        return Ok(Outcome::Busy);
    }
    let before = desk.snapshot(Vec::new()).await?;
    let foreign = foreign(&desk, target, spans, before.tree).await?;
    let target = desk.with_objects(move |objects| tree::read(objects, target)).await?;
    let mut plan = restore::plan(&target, &before.manifest, &asked.scope, &foreign);
    let conflicts = std::mem::take(&mut plan.conflicts);
    let mut report = Report { conflicts: conflicts.clone(), ..Report::default() };
    if !conflicts.is_empty() && asked.on_conflict == OnConflict::Fail && !asked.dry_run {
        return Ok(Outcome::Conflict(conflicts));
    }
    if asked.on_conflict != OnConflict::Overwrite {
        let kept: BTreeSet<Vec<u8>> = conflicts.into_iter().collect();
        report.skipped = plan.leave_out(|path| kept.contains(path).then(|| "conflict".to_owned()));
    }
    // What is not in the snapshot of now could not be brought back.
    report.skipped.extend(plan.leave_out(|path| {
        let path = String::from_utf8_lossy(path);
        before.skipped.iter().find(|skipped| skipped.path == path).map(|skipped| skipped.why.clone())
    }));
    if asked.dry_run {
        report.restored = plan.write.into_iter().map(|write| write.path).collect();
        report.deleted = plan.delete;
        return Ok(Outcome::Done(Box::new(report)));
    }
    let safety = points::keep(store, session, Kind::Safety, None, &before).await?;
    points::announce(app, session, &safety).await;
    let (no, safety_no) = (session.no, safety.no);
    let span = store.write(move |db| records::begin(db, no, None, safety_no)).await?;
    report.safety = Some(safety);
    let plan = Arc::new(plan);
    let work = Arc::clone(&plan);
    let done = desk
        .with_files(
            asked.state,
            EndpointId::AgentsCheckpointsRestore,
            asked.time,
            move |access, root, objects| Ok(restore::apply(access, root, objects, &work)?),
        )
        .await;
    // Whatever was done is the session's own doing, and is looked at again.
    let after = desk.snapshot(Vec::new()).await?;
    let tree = after.tree.to_string();
    store.write(move |db| records::end(db, span, &tree, now())).await?;
    let Done { restored, deleted, skipped } = done?;
    report.verified = is_verified(&plan, &skipped, &after.manifest);
    report.skipped.extend(skipped);
    (report.restored, report.deleted) = (restored, deleted);
    let told = json!({
        "checkpoint_id": point.checkpoint_id,
        "safety_checkpoint_id": report.safety.as_ref().map(|safety| &safety.checkpoint_id),
        "restored": report.restored.len(),
        "deleted": report.deleted.len(),
        "verified": report.verified,
    });
    super::tell(app, session, None, Kinds::CheckpointRestored, told).await;
    Ok(Outcome::Done(Box::new(report)))
}

/// Whether everything that was not left out is as it was to be.
fn is_verified(plan: &Plan, skipped: &[Skipped], now: &tree::Manifest) -> bool {
    let left: BTreeSet<&str> = skipped.iter().map(|skipped| skipped.path.as_str()).collect();
    let counts = |path: &[u8]| !left.contains(&*String::from_utf8_lossy(path));
    plan.write
        .iter()
        .filter(|write| counts(&write.path))
        .all(|write| now.get(&write.path) == Some(&write.entry))
        && plan.delete.iter().filter(|path| counts(path)).all(|path| !now.contains_key(path))
}
