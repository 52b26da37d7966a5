//! Why the store could not do what it was asked.

use crate::error::{ApiError, ErrorCode};

/// A failure of the store. Says nothing of what was stored.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder cannot be had; the text says why, and names no more than the folder.
    #[error("{0}")]
    Place(String),
    /// The database was made by a later version of the server.
    #[error("the agents database was made by a later version: it knows `{0}`")]
    Later(String),
    /// No space is left.
    #[error("no space is left for the agents database")]
    NoSpace,
    /// The database failed.
    #[error("the agents database failed: {0}")]
    Database(rusqlite::Error),
    /// What was written could not be brought to disk.
    #[error("the agents database could not be written")]
    NotStored,
    /// A file beside the database failed.
    #[error("the agents store failed: {0}")]
    Io(#[from] std::io::Error),
    /// The session is not, or no longer, there.
    #[error("no such session")]
    NoSession,
    /// The thread that writes is gone, or a closure panicked.
    #[error("the agents store has stopped")]
    Stopped,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::NoSpace,
            _ => Self::Database(error),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::Place(_) | StoreError::Later(_) => {
                Self::new(ErrorCode::AgentUnavailable, error.to_string())
            }
            StoreError::NoSpace => Self::new(ErrorCode::NoSpace, error.to_string()),
            StoreError::Io(io) if io.kind() == std::io::ErrorKind::StorageFull => {
                Self::new(ErrorCode::NoSpace, "no space is left for the agents store")
            }
            // What SQLite says may quote a statement: it is for the log.
            StoreError::Database(_) | StoreError::Io(_) => {
                crate::log::say(format_args!("{error}"));
                Self::internal("The agents store failed")
            }
            StoreError::NoSession => Self::new(ErrorCode::SessionNotFound, "No such session"),
            StoreError::NotStored => Self::internal("The agents store could not be written"),
            StoreError::Stopped => Self::internal("The agents store has stopped"),
        }
    }
}
