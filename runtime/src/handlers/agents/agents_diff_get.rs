//! Unified diff of those changes.
//!
//! # Request
//! As for the changes: `session_id` in the path; `from`, `to`, `path` in the query. Also `context` (3), lines around each
//! change, and `max_bytes` (1,000,000).
//!
//! # Response
//! `{"diff", "stats": {"files_changed", "insertions", "deletions"}, "truncated"}`. Applied to the older tree with `git apply`, a diff
//! that was not cut gives the newer one.
//!
//! # Limits
//! `limits.max_bytes` (100 MB) bounds `max_bytes`; `limits.timeout_seconds` (120).
//!
//! # Errors
//! 404 `session_not_found`, 404 `checkpoint_not_found`, 403 `path_not_allowed`, 409 `workspace_too_large`, 503
//! `git_missing`.
//!
//! # Policy
//! `paths`: files that may not be read are left out. `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" "http://localhost:9000/agents/sessions/$SESSION/diff?from=$TURN&context=5"
//! ```

use std::sync::Arc;

use serde_json::json;

use super::super::launch;
use super::workspaces::{self, Asked, Sight};
use crate::agents::workspace::changes::compare;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;

/// Most lines of context.
const CONTEXT: u64 = 100_000;

/// Longest diff where nobody asks for another length, in bytes: as `/git/diff`.
const USUAL: u64 = 1_000_000;

pub(crate) async fn call(call: Call) -> Answer {
    let asked = Asked::of(&call)?;
    let context = call.query().count("context")?.unwrap_or(3);
    if context > CONTEXT {
        return Err(ApiError::invalid("context", format!("context must be at most {CONTEXT}")));
    }
    let most = launch::limit(&call, |limits| limits.max_bytes, 100_000_000);
    let most = call.query().count("max_bytes")?.unwrap_or(USUAL).min(most);
    let (app, permit) = (Arc::clone(call.app()), call.permit().clone());
    let (time, owner) = (workspaces::time(&call), launch::owner(&call));
    let session_id = call.param("session_id")?.into_owned();
    drop(call);
    let session = workspaces::session(&app, session_id).await?;
    let sight = Sight::new(&permit, &session);
    let question = asked.question(&sight)?;
    let compared = compare(&app, &session, question, |path| sight.sees(path)).await?;
    let compared = compared.ok_or_else(workspaces::no_checkpoint)?;
    let files = compared.files(Arc::clone(&owner), time).await?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let (diff, truncated) = compared.patch(owner, time, context, most).await?;
    let (insertions, deletions) = files.iter().fold((0, 0), |(insertions, deletions), file| {
        (insertions + file.insertions, deletions + file.deletions)
    });
    let stats = json!({"files_changed": files.len(), "insertions": insertions, "deletions": deletions});
    Ok(Reply::ok(&json!({"diff": diff, "stats": stats, "truncated": truncated})))
}
