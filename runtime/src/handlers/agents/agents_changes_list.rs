//! Files added, changed or deleted since the session, a turn or a checkpoint.
//!
//! # Request
//! In the path: `session_id`. In the query: `from`, a checkpoint or a turn (the beginning of the session); `to`, a
//! checkpoint, a turn, whose end is meant, or `now` (`now`); `path`, a file or directory of the workspace.
//!
//! # Response
//! `{"files": [{"path", "status", "insertions", "deletions", "binary", "sources", "turn_ids", "renamed_from"?}], "shared",
//! "shared_with", "truncated"}`. `status` is `added`, `modified`, `deleted` or `renamed`; `sources` holds `tool`, `fs`,
//! `terminal` or `unknown`. Where another session worked in the same tree meanwhile (`shared`), a change is laid to a turn only
//! where a tool call or a write through the server names the file.
//!
//! # Limits
//! `limits.max_entries` (10,000), `limits.timeout_seconds` (120).
//!
//! # Errors
//! 404 `session_not_found`, 404 `checkpoint_not_found`, 403 `path_not_allowed`, 409 `workspace_too_large`, 503
//! `git_missing`.
//!
//! # Policy
//! `paths`: files that may not be read are left out. `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" "http://localhost:9000/agents/sessions/$SESSION/changes?path=src"
//! ```

use std::sync::Arc;

use serde_json::json;

use super::super::launch;
use super::workspaces::{self, Asked, Sight, shown};
use crate::agents::workspace::changes::compare;
use crate::endpoint::{Answer, Call, Reply};

pub(crate) async fn call(call: Call) -> Answer {
    let asked = Asked::of(&call)?;
    let (app, permit) = (Arc::clone(call.app()), call.permit().clone());
    let (time, owner) = (workspaces::time(&call), launch::owner(&call));
    let most =
        usize::try_from(launch::limit(&call, |limits| limits.max_entries, 10_000)).unwrap_or(usize::MAX);
    let session_id = call.param("session_id")?.into_owned();
    drop(call);
    let session = workspaces::session(&app, session_id).await?;
    let sight = Sight::new(&permit, &session);
    let question = asked.question(&sight)?;
    let compared = compare(&app, &session, question, |path| sight.sees(path)).await?;
    let compared = compared.ok_or_else(workspaces::no_checkpoint)?;
    let mut files = compared.files(owner, time).await?;
    let attribution = compared.attribution(&app, &session).await?;
    let truncated = files.len() > most;
    files.truncate(most);
    let files: Vec<_> = files
        .iter()
        .map(|file| {
            let mut view = json!({
                "path": shown(&file.path),
                "status": file.status,
                "insertions": file.insertions,
                "deletions": file.deletions,
                "binary": file.binary,
                "sources": attribution.sources(&file.path),
                "turn_ids": attribution.turns(&file.path),
            });
            if let (Some(original), Some(view)) = (&file.original, view.as_object_mut()) {
                view.insert("renamed_from".to_owned(), shown(original).into());
            }
            view
        })
        .collect();
    Ok(Reply::ok(&json!({
        "files": files,
        "shared": !attribution.shared_with.is_empty(),
        "shared_with": attribution.shared_with,
        "truncated": truncated,
    })))
}
