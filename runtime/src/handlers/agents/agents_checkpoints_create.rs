//! Save a restore point now.
//!
//! # Request
//! In the path: `session_id`. In the body: `label`; `paths`, files and directories of the workspace that take part although
//! they are ignored. The data of repositories (`.git`) never takes part.
//!
//! # Response
//! `{"checkpoint": {…}}`, as the list has it.
//!
//! # Limits
//! `limits.max_entries` (10,000 files), `limits.max_bytes` (100 MB), `limits.timeout_seconds` (120). They hold for the restore
//! points that are taken before turns as well. Files of more than 32 MiB are left out, and told in `skipped`.
//!
//! # Errors
//! 404 `session_not_found`, 403 `path_not_allowed`, 409 `workspace_too_large` (with `files`, `bytes`, `limit`), 503
//! `git_missing`.
//!
//! # Policy
//! `paths`: files that may not be read are left out of every restore point. `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $ABX_SERVER_TOKEN" --json '{"label": "before the rewrite"}' \
//!   "http://localhost:9000/agents/sessions/$SESSION/checkpoints"
//! ```

use std::sync::Arc;

use serde_json::json;

use super::workspaces::{self, Sight};
use crate::agents::workspace::points;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};

/// Longest label, in characters.
const LABEL: usize = 200;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let label = body.text("label")?;
    if label.as_ref().is_some_and(|label| label.chars().count() > LABEL) {
        return Err(ApiError::invalid("label", format!("label must be at most {LABEL} characters")));
    }
    let paths = body.texts("paths")?;
    let (app, permit) = (Arc::clone(call.app()), call.permit().clone());
    let session_id = call.param("session_id")?.into_owned();
    drop(call);
    let session = workspaces::session(&app, session_id).await?;
    let named = Sight::new(&permit, &session).all_named("paths", paths)?;
    // What is kept without git could not be compared.
    if app.processes.programs.locate("git").is_none() {
        return Err(ApiError::new(ErrorCode::GitMissing, "git is not installed"));
    }
    let point = points::by_hand(&app, &session, label, named).await?;
    Ok(Reply::ok(&json!({"checkpoint": point.view()})))
}
