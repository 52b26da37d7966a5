//! A working tree of its own for a session: a branch of the repository that its directory is in, beside everything else.

use crate::agents::process::Workplace;
use crate::agents::turns::attach::FOLDER;
use crate::app::App;
use crate::error::{ApiError, ErrorCode};
use crate::process::{Owner, Tool, ToolError};
use std::time::Duration;

/// How long git may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes the tree, on a new branch at the commit that is checked out, and yields its path.
///
/// # Errors
/// 503 `git_missing`; 409 `capability_missing` where the directory is in no repository with a commit.
pub(super) async fn add(
    app: &App,
    place: Workplace,
    session_id: &str,
    owner: &str,
) -> Result<String, ApiError> {
    let tree = format!("{}/{FOLDER}/trees/{session_id}", place.path.trim_end_matches('/'));
    let branch = format!("agent/{session_id}");
    // No hook of the repository runs, and nothing in it says what git does beside that.
    let arguments =
        ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "worktree", "add", "--quiet", "-b"];
    let mut arguments: Vec<String> = arguments.map(str::to_owned).into();
    arguments.extend([branch, tree.clone(), "HEAD".to_owned()]);
    let tool = Tool {
        name: "git",
        arguments,
        variables: &[("GIT_TERMINAL_PROMPT", "0")],
        directory: place.handle,
        time: PATIENCE,
        keep: 64 * 1024,
        owner: Owner::from(owner),
    };
    match app.processes.run(tool).await {
        Ok(ran) if ran.exit.code == Some(0) => Ok(tree),
        Ok(_) => Err(ApiError::new(
            ErrorCode::CapabilityMissing,
            "The directory is in no git repository with a commit",
        )
        .with("capability", "worktree")),
        Err(ToolError::Absent(_)) => Err(ApiError::new(ErrorCode::GitMissing, "git is not installed")),
        Err(_) => Err(ApiError::new(ErrorCode::SpawnFailed, "git could not be started")),
    }
}
