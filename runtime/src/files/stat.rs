//! Metadata of one path.

use super::{Access, FilesError};
use crate::guard::{GuardError, Kind, Last, NormalPath, Op, kind_of};
use rustix::fs::Stat;

/// What is known of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// What it is.
    pub kind: Kind,
    /// Bytes.
    pub size: u64,
    /// Permission bits, the lowest nine.
    pub permissions: u32,
    /// Modification time, seconds since 1970 and nanoseconds.
    pub modified: (i64, u64),
}

impl From<&Stat> for Metadata {
    fn from(stat: &Stat) -> Self {
        Self {
            kind: kind_of(stat),
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            permissions: stat.st_mode & 0o777,
            modified: (stat.st_mtime, stat.st_mtime_nsec),
        }
    }
}

/// Looks at a path; a link is looked at itself. `None` where nothing is there.
///
/// # Errors
///
/// A refusal or the system's error.
pub fn stat(access: Access<'_>, path: &NormalPath) -> Result<Option<Metadata>, FilesError> {
    match access.guard.entry(access.judge, path, Op::Read, Last::Itself) {
        Ok(opened) => Ok(Some(Metadata::from(&opened.stat))),
        Err(GuardError::NotFound | GuardError::NotADirectory) => Ok(None),
        Err(error) => Err(FilesError::from_guard(error)),
    }
}
