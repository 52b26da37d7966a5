//! Put files back, and optionally the conversation, with a preview.
//!
//! # Request
//! In the path: `session_id`, `checkpoint_id`. In the body: `dry_run` (false), only say what would be done; `paths`, files and
//! directories of the workspace (all); `on_conflict`, what becomes of files that somebody else has changed since: `fail`,
//! `keep` or `overwrite` (`fail`); `conversation`: `keep` or `fork` (`keep`).
//!
//! # Response
//! `{"restored", "deleted", "skipped": [{"path", "why"}], "conflicts", "safety_checkpoint_id", "verified", "session"?}`. Restoring the
//! safety checkpoint brings everything back as it was before. `verified` says that every file was found as it was to be.
//!
//! # Limits
//! `limits.timeout_seconds` (120).
//!
//! # Errors
//! 404 `session_not_found`, 404 `checkpoint_not_found`, 404 `turn_not_found` (a branch from before the first turn), 403
//! `path_not_allowed`, 409 `session_busy`, 409 `restore_conflict` (with `conflicts`), 409 `workspace_too_large`.
//!
//! # Policy
//! `paths`: files that may not be written or deleted are left as they are and told in `skipped`. `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $ABX_SERVER_TOKEN" --json '{"dry_run": true}' \
//!   "http://localhost:9000/agents/sessions/$SESSION/checkpoints/$CHECKPOINT/restore"
//! ```

use std::sync::Arc;

use rusqlite::OptionalExtension as _;
use serde_json::{Value, json};

use super::workspaces::{self, Sight, shown};
use super::{going_back, talking};
use crate::agents::process::Judge;
use crate::agents::sessions::fork::{Branch, fork as fork_session};
use crate::agents::sessions::view as session_view;
use crate::agents::workspace::records;
use crate::agents::workspace::undo::{Asked, OnConflict, Outcome, Report, undo};
use crate::app::App;
use crate::endpoint::{Answer, Call, JsonBody, Reply};
use crate::error::{ApiError, ErrorCode};

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let dry_run = body.flag("dry_run", false)?;
    let on_conflict = match word(&mut body, "on_conflict", &["fail", "keep", "overwrite"])? {
        "keep" => OnConflict::Keep,
        "overwrite" => OnConflict::Overwrite,
        _ => OnConflict::Fail,
    };
    let fork = word(&mut body, "conversation", &["keep", "fork"])? == "fork";
    let paths = body.texts("paths")?;
    let (app, permit, time) = (Arc::clone(call.app()), call.permit().clone(), workspaces::time(&call));
    let content = talking::content(&call);
    let (session_id, name) =
        (call.param("session_id")?.into_owned(), call.param("checkpoint_id")?.into_owned());
    drop(call);
    let session = workspaces::session(&app, session_id).await?;
    let no = session.no;
    let point = app.agents.store().await?.read(move |db| records::find(db, no, &name)).await?;
    let point = point.ok_or_else(workspaces::no_checkpoint)?;
    let target = going_back::target(&point)?;
    let branch = if fork { Some(until(&app, no, point.created_at).await?) } else { None };
    let scope = Sight::new(&permit, &session).all_named("paths", paths)?;
    let asked = Asked { dry_run, scope, on_conflict, time, state: Arc::clone(permit.state()) };
    match undo(&app, &session, &point, target, asked).await? {
        Outcome::Busy => Err(going_back::busy()),
        Outcome::Conflict(paths) => Err(going_back::conflict(&paths)),
        Outcome::Done(report) => {
            let mut answer = view(&report);
            if let (Some(branch), false, Some(answer)) = (branch, dry_run, answer.as_object_mut()) {
                let judge = Judge::of(&permit);
                let (row, _) = fork_session(&app, &judge, &permit.principal().id, &session, branch).await?;
                let store = app.agents.store().await?;
                let shown = store.read(move |db| session_view::whole(db, &row, content)).await?;
                answer.insert("session".to_owned(), shown);
            }
            Ok(Reply::ok(&answer))
        }
    }
}

/// The branch of the conversation that ends where the checkpoint was taken.
///
/// # Errors
/// 404 `turn_not_found` where nothing was said before.
async fn until(app: &Arc<App>, session: i64, at: f64) -> Result<Branch, ApiError> {
    let found = app.agents.store().await?.read(move |db| {
        let mut query = db.prepare_cached(
            "SELECT turn_id FROM turns WHERE session = ?1 AND ended_at <= ?2 ORDER BY ended_at DESC LIMIT 1",
        )?;
        query.query_row((session, at), |row| row.get(0)).optional()
    });
    let after_turn_id: Option<String> = found.await?;
    match after_turn_id {
        Some(_) => Ok(Branch { after_turn_id, ..Branch::default() }),
        None => Err(ApiError::new(ErrorCode::TurnNotFound, "No turn had ended before the checkpoint")),
    }
}

fn view(report: &Report) -> Value {
    json!({
        "restored": names(&report.restored),
        "deleted": names(&report.deleted),
        "skipped": report.skipped,
        "conflicts": names(&report.conflicts),
        "safety_checkpoint_id": report.safety.as_ref().map(|safety| &safety.checkpoint_id),
        "verified": report.verified,
    })
}

fn names(paths: &[Vec<u8>]) -> Vec<String> {
    paths.iter().map(|path| shown(path)).collect()
}

/// One of a few words; the first where it is absent.
fn word<'w>(body: &mut JsonBody, name: &str, words: &[&'w str]) -> Result<&'w str, ApiError> {
    let asked = body.text(name)?;
    let found = words.iter().find(|word| asked.as_deref().is_none_or(|asked| asked == **word));
    found
        .copied()
        .ok_or_else(|| ApiError::invalid(name, format!("{name} must be one of {}", words.join(", "))))
}
