//! A directory held open, and what is known of where it lies.

use super::foreign::is_foreign;
use super::path::{below, join, split_last};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// How a directory is opened that is only worked beneath.
pub(super) const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

/// A directory held open.
#[derive(Debug)]
pub(crate) struct Root {
    /// As the policy spells it.
    pub(crate) path: Vec<u8>,
    /// With the links on the way to it resolved, as it was when it was opened; `None` where there was none.
    real: Option<Vec<u8>>,
    fd: OwnedFd,
    /// The device it lives on; anything on another is looked at before it is served.
    pub(super) dev: u64,
    inode: u64,
}

impl Root {
    /// `/`.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn top() -> Result<Self, Errno> {
        let flags = DIRECTORY | OFlags::CLOEXEC;
        Self::new(rustix::fs::openat(rustix::fs::CWD, c"/", flags, Mode::empty())?, b"/", None)
    }

    /// What `fd` refers to, spelled `path`, and really lying at `real` where that is elsewhere.
    ///
    /// # Errors
    /// [`Errno::ACCESS`] for a kernel file system, or the system's error.
    pub(super) fn new(fd: OwnedFd, path: &[u8], real: Option<Vec<u8>>) -> Result<Self, Errno> {
        let stat = rustix::fs::fstat(&fd)?;
        if is_foreign(&fd)? {
            return Err(Errno::ACCESS);
        }
        let real = real.filter(|real| real != path);
        Ok(Self { path: path.to_vec(), real, fd, dev: stat.st_dev, inode: stat.st_ino })
    }

    /// What `fd` refers to, opened beneath this one without a link on the way, and spelled `path`.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(super) fn beneath(&self, fd: OwnedFd, path: &[u8]) -> Result<Self, Errno> {
        let real = self.real.as_ref().and_then(|real| Some(join(real, below(&self.path, path)?)));
        Self::new(fd, path, real)
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Where it really lies.
    pub(crate) fn real(&self) -> &[u8] {
        self.real.as_deref().unwrap_or(&self.path)
    }

    /// Whether a link was followed on the way to it.
    pub(super) const fn is_linked(&self) -> bool {
        self.real.is_some()
    }

    /// Its parts above, for a `..` that climbs out of it.
    pub(crate) fn real_parent(&self) -> &[u8] {
        split_last(self.real()).map_or(b"/", |(dir, _)| dir)
    }

    /// What tells it from every other directory, however it is spelled.
    pub(super) const fn identity(&self) -> (u64, u64) {
        (self.dev, self.inode)
    }
}
