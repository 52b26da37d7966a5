//! How a guarded access fails.

use super::verdict::{Refusal, RefusalKind};
use rustix::io::Errno;

/// Why a path was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    /// The policy, or the guard itself, refuses the path.
    #[error("the path is not allowed")]
    Refused(Refusal),
    /// It is no path: empty, with a NUL, or longer than the system takes.
    #[error("the path is not valid: {0}")]
    InvalidPath(&'static str),
    /// Nothing is there.
    #[error("no such file or directory")]
    NotFound,
    /// A directory was wanted.
    #[error("not a directory")]
    NotADirectory,
    /// A regular file was wanted.
    #[error("not a regular file")]
    NotARegularFile,
    /// The base directory itself was to be removed, renamed or replaced.
    #[error("the base directory itself cannot be changed")]
    IsRoot,
    /// The system refused for another reason.
    #[error("{0}")]
    Io(Errno),
}

impl GuardError {
    /// A refusal of the guard's own, for a path that leaves the roots.
    pub(crate) const OUTSIDE: Self = Self::Refused(Refusal::own(RefusalKind::NotAllowed));

    /// What the error of an opening call means, once links on the way have been dealt with.
    ///
    /// An escape and a link that appeared meanwhile are the same refusal, so that neither tells what lies outside.
    pub(crate) fn from_open(errno: Errno) -> Self {
        match errno {
            Errno::NOENT | Errno::NOTDIR => Self::NotFound,
            Errno::XDEV | Errno::LOOP | Errno::AGAIN | Errno::ACCESS | Errno::PERM => Self::OUTSIDE,
            Errno::NAMETOOLONG => Self::InvalidPath("it is too long"),
            Errno::NXIO | Errno::NODEV => Self::NotARegularFile,
            other => Self::Io(other),
        }
    }
}

impl From<Refusal> for GuardError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
