//! How a file service fails.

use crate::guard::GuardError;
use rustix::io::Errno;

/// Why a file service did not do what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    /// The guard did not open the path.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// Something lies at the destination and is not to be replaced.
    #[error("the destination exists")]
    AlreadyExists,
    /// The two ends do not fit together, such as a file onto a directory.
    #[error("{0}")]
    Conflict(&'static str),
    /// A file, or what was sent for one, is larger than the limit.
    #[error("the file is larger than {limit} bytes")]
    FileTooLarge {
        /// Bytes.
        limit: u64,
    },
    /// An archive would pass a limit.
    #[error("the archive passes the limit of {limit} {unit}")]
    ArchiveTooLarge {
        /// How many.
        limit: u64,
        /// Of what: `bytes` or `entries`.
        unit: &'static str,
    },
    /// A tree holds more entries than the call may touch.
    #[error("the directory holds more than {limit} entries")]
    TooManyEntries {
        /// How many.
        limit: u64,
    },
    /// The file system is full, or the quota is used up.
    #[error("no space left")]
    NoSpace,
    /// The file system is mounted read-only.
    #[error("the file system is read-only")]
    ReadOnlySystem,
    /// The content that was sent ended early or is not what it should be.
    #[error("{0}")]
    BadContent(&'static str),
    /// A pattern cannot be read.
    #[error("{0}")]
    BadPattern(&'static str),
    /// The time is up.
    #[error("the time limit passed")]
    TimedOut,
    /// The caller is gone.
    #[error("the caller is gone")]
    Cancelled,
    /// A tree was removed in part.
    #[error("{removed} entries were removed, then one could not be: {errno}")]
    Incomplete {
        /// How many were removed.
        removed: u64,
        /// The first failure.
        errno: Errno,
    },
    /// The system refused.
    #[error("{0}")]
    Io(Errno),
}

impl From<Errno> for FilesError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOSPC | Errno::DQUOT => Self::NoSpace,
            Errno::ROFS => Self::ReadOnlySystem,
            Errno::NOENT => Self::Guard(GuardError::NotFound),
            other => Self::Io(other),
        }
    }
}

impl From<std::io::Error> for FilesError {
    fn from(error: std::io::Error) -> Self {
        // Archive writers only speak `io::Error`; ours comes back out of theirs.
        if let Some(ours) = error.get_ref().and_then(|inner| inner.downcast_ref::<Self>()) {
            return *ours;
        }
        Errno::from_io_error(&error).map_or(Self::Io(Errno::IO), Self::from)
    }
}

impl FilesError {
    /// The guard's answer, with the system errors that have a meaning of their own here taken out.
    pub(crate) fn from_guard(error: GuardError) -> Self {
        match error {
            GuardError::Io(errno) => errno.into(),
            other => Self::Guard(other),
        }
    }
}
