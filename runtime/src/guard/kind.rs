//! What kind of thing a handle refers to.

use super::GuardError;
use rustix::fs::{FileType, Stat};

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A FIFO, a socket or a device.
    Special,
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Symlink,
            _ => Self::Special,
        }
    }
}

/// The kind that a stat result tells.
#[must_use]
pub fn kind_of(stat: &Stat) -> Kind {
    FileType::from_raw_mode(stat.st_mode).into()
}

/// The error for finding `found` where `wanted` was asked for; `None` where they agree.
#[must_use]
pub fn ruled_out(wanted: Kind, found: Kind) -> Option<GuardError> {
    match wanted {
        _ if wanted == found => None,
        Kind::Directory => Some(GuardError::NotADirectory),
        _ => Some(GuardError::NotARegularFile),
    }
}
