//! Why a workspace could not be kept, compared or put back.

use super::snapshot::SnapshotError;
use crate::agents::store::StoreError;
use crate::error::{ApiError, ErrorCode};
use crate::files::FilesError;
use crate::git::GitError;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// There is no snapshot.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// A file service failed.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The checkpoint store failed.
    #[error("the checkpoint store cannot be used: {0}")]
    Objects(#[from] std::io::Error),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The endpoint takes no paths, or the work was given up.
    #[error("the workspace cannot be reached")]
    Unreachable,
}

impl WorkspaceError {
    /// A short reason, for a checkpoint that was not taken.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Snapshot(SnapshotError::TooLarge { .. }) => "workspace_too_large",
            Self::Snapshot(SnapshotError::Files(FilesError::TimedOut))
            | Self::Files(FilesError::TimedOut) => "timeout",
            Self::Snapshot(SnapshotError::Files(_)) | Self::Files(_) => "unreadable",
            _ => "failed",
        }
    }
}

impl From<WorkspaceError> for ApiError {
    fn from(error: WorkspaceError) -> Self {
        match error {
            WorkspaceError::Snapshot(SnapshotError::TooLarge { files, bytes, limit }) => {
                let limit = serde_json::json!({"files": limit.files, "bytes": limit.bytes});
                Self::new(ErrorCode::WorkspaceTooLarge, "The workspace is too large to be kept")
                    .with("files", files)
                    .with("bytes", bytes)
                    .with("limit", limit)
            }
            WorkspaceError::Snapshot(SnapshotError::Files(error)) | WorkspaceError::Files(error) => {
                files(error)
            }
            WorkspaceError::Snapshot(SnapshotError::Store(error)) | WorkspaceError::Objects(error) => {
                if error.kind() == std::io::ErrorKind::StorageFull {
                    return Self::new(ErrorCode::NoSpace, "No space is left for checkpoints");
                }
                crate::log::say(format_args!("the checkpoint store failed: {error}"));
                Self::internal("The checkpoint store failed")
            }
            WorkspaceError::Store(error) => error.into(),
            WorkspaceError::Git(GitError::Absent) => Self::new(ErrorCode::GitMissing, "git is not installed"),
            WorkspaceError::Git(GitError::TimedOut) => Self::new(ErrorCode::Timeout, "git timed out"),
            WorkspaceError::Git(_) => Self::internal("git failed on the checkpoint store"),
            WorkspaceError::Unreachable => Self::internal("The workspace cannot be reached"),
        }
    }
}

fn files(error: FilesError) -> ApiError {
    use crate::guard::GuardError;
    match error {
        FilesError::TimedOut => ApiError::new(ErrorCode::Timeout, "The time limit passed"),
        FilesError::NoSpace => ApiError::new(ErrorCode::NoSpace, "No space is left"),
        FilesError::Guard(GuardError::Refused(_)) => {
            ApiError::new(ErrorCode::PathNotAllowed, "The workspace is outside the allowed directories")
        }
        FilesError::Guard(GuardError::NotFound | GuardError::NotADirectory) => {
            ApiError::new(ErrorCode::Conflict, "The workspace is no directory any more")
        }
        _ => ApiError::internal("The workspace cannot be read"),
    }
}
