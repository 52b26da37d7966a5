//! Opening beneath a handle without `openat2`: one part at a time, each on the handle of the one before.
//!
//! A link on the way is ENOTDIR here and ELOOP there; the caller looks closer at either.

use super::path::parts;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Opens `relative` beneath `dir`, where `openat2` would under `BENEATH | NO_SYMLINKS | NO_MAGICLINKS`.
///
/// `..` never occurs in a normal path, so each step goes down or fails.
pub(super) fn open(dir: BorrowedFd<'_>, relative: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut names = parts(relative).peekable();
    let mut held: Option<OwnedFd> = None;
    loop {
        let here = held.as_ref().map_or(dir, |held| held.as_fd());
        match names.next() {
            None => return openat(here, b".", flags),
            Some(b"..") => return Err(Errno::XDEV),
            Some(name) if names.peek().is_none() => return openat(here, name, flags),
            Some(name) => {
                held = Some(openat(here, name, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW)?)
            }
        }
    }
}

fn openat(dir: BorrowedFd<'_>, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(dir, name, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
}
