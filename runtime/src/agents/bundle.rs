//! Bundles: a session with everything that is kept of it, to be read or to go on elsewhere.
//!
//! - `table`: which columns of which tables travel
//! - `pack`, `unpack`: the archive, every entry of which is named with its hash
//! - `points`: restore points with the content of their files
//! - `spans`: when the session itself changed its workspace
//! - `check`: what an archive must hold before anything of it is stored
//! - `restore`: putting it into the store, all of it or nothing
//! - `rename`: other names where the old ones are taken
//! - `transcript`: the session as text, for people
//!
//! A bundle is a zip archive: `manifest.json`, `session.json`, one file of lines a table, `blobs/<sha256>`,
//! `objects/<sha256>`. Nothing in it is run, no name in it becomes a path, and every hash is looked at.

mod check;
mod pack;
mod points;
mod rename;
mod restore;
mod spans;
mod table;
mod transcript;
mod unpack;

pub use pack::pack;
pub use restore::{Asked, OnConflict, Restored, restore};
pub use transcript::{Shape, json, markdown};
pub use unpack::{Bundle, unpack};

use super::store::StoreError;
use super::workspace::WorkspaceError;
use crate::error::{ApiError, ErrorCode};

/// What a bundle calls itself.
const FORMAT: &str = "agent-session-bundle";
/// The form of its entries. A reader refuses every other.
const VERSION: u64 = 1;

/// Why a bundle could not be made or taken.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// It is no bundle, or not a whole one; the text says why.
    #[error("{0}")]
    Invalid(String),
    /// It is, or unpacks to, more than so many bytes.
    #[error("the bundle is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// A session of this name is there already.
    #[error("a session of this name exists")]
    Exists(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The workspace's store failed.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

impl BundleError {
    fn invalid(why: impl Into<String>) -> Self {
        Self::Invalid(why.into())
    }
}

impl From<BundleError> for ApiError {
    fn from(error: BundleError) -> Self {
        match error {
            BundleError::Invalid(why) => {
                Self::new(ErrorCode::ImportInvalid, why).with("parameter", "content_base64")
            }
            BundleError::TooLarge { limit } => {
                Self::new(ErrorCode::TooLarge, "The bundle is larger than the limit").with("limit", limit)
            }
            BundleError::Exists(session_id) => {
                Self::new(ErrorCode::SessionExists, "A session of this name exists")
                    .with("session_id", session_id)
            }
            BundleError::Store(error) => error.into(),
            BundleError::Workspace(error) => error.into(),
        }
    }
}
