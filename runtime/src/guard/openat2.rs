//! The two ways to open beneath a directory handle, behind one interface.

use super::walk;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// A rename or mount elsewhere can make the kernel give up with EAGAIN; that many tries before it is an answer.
const TRIES: usize = 64;

/// How paths are opened beneath a handle. Chosen once, at start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resolver {
    /// The kernel's `openat2`.
    Openat2,
    /// A walk on handles, one part at a time; for kernels and sandboxes that refuse `openat2`.
    Walk,
}

impl Resolver {
    /// The best one that works here.
    #[must_use]
    pub fn detect() -> Self {
        let probe = rustix::fs::openat2(
            rustix::fs::CWD,
            ".",
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
            ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS,
        );
        match probe {
            // ENOSYS: an old kernel or gVisor. EPERM: nspawn and old container profiles. Anything else is about `.`.
            Err(Errno::NOSYS | Errno::PERM) => Self::Walk,
            _ => Self::Openat2,
        }
    }

    /// Its name, for the log line at start.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Openat2 => "openat2",
            Self::Walk => "walk",
        }
    }

    /// Opens `relative`, a normal path without a leading slash, beneath `dir` and follows no link: a link on the way is
    /// ELOOP or ENOTDIR, and one at the end too, unless `flags` hold `PATH`: then the link itself is opened.
    pub(crate) fn open(self, dir: BorrowedFd<'_>, relative: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let relative = if relative.is_empty() { b"." } else { relative };
        match self {
            Self::Openat2 => openat2(dir, relative, flags),
            Self::Walk => walk::open(dir, relative, flags),
        }
    }
}

fn openat2(dir: BorrowedFd<'_>, relative: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let mut tries = 0;
    loop {
        tries += 1;
        match rustix::fs::openat2(dir, relative, flags, Mode::empty(), how) {
            Err(Errno::AGAIN | Errno::INTR) if tries < TRIES => {}
            done => return done,
        }
    }
}
