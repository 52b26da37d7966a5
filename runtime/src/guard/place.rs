//! A name in a directory held open: where something is made, replaced, renamed or removed.

use super::foreign::check_device;
use super::kind::{Kind, kind_of};
use super::open::{Last, ROUNDS};
use super::owner::give_directory;
use super::path::{below, parts, split_last};
use super::root::Guard;
use super::verdict::{Op, PathJudge};
use super::{GuardError, NormalPath, Resolver, Seals};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::sync::Arc;

/// A directory handle and one name in it.
#[derive(Debug)]
pub struct Place {
    /// The directory, open for reading, so that it can be synced.
    pub dir: OwnedFd,
    /// The name: one part, never `.` or `..`.
    pub name: Vec<u8>,
    /// The absolute path with links resolved, as its root is spelled.
    pub path: Vec<u8>,
    /// What lies there, asked a moment ago and without following a link.
    pub existing: Option<Stat>,
    /// Whether the path as asked ended in a link that was followed to get here.
    pub followed: bool,
    pub(super) seals: Arc<Seals>,
}

impl Place {
    /// What kind of thing lies there.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        self.existing.as_ref().map(kind_of)
    }
}

impl Guard {
    /// Finds the place of `path`. With `parents` the directories above it are made where they are missing.
    ///
    /// # Errors
    ///
    /// A refusal, [`GuardError::IsRoot`] for a root itself, [`GuardError::NotFound`] where a directory above it is
    /// missing, or the system's error.
    pub fn place(
        &self,
        judge: &dyn PathJudge,
        path: &NormalPath,
        op: Op,
        last: Last,
        parents: bool,
    ) -> Result<Place, GuardError> {
        self.judge(judge, path.as_bytes(), op)?;
        let (root, _) = self.root_of(path.as_bytes()).ok_or(GuardError::OUTSIDE)?;
        if let Some(place) = self.try_place(root, path.as_bytes(), parents, false)?
            && !(place.kind() == Some(Kind::Symlink) && (last == Last::Follow || path.asks_directory()))
        {
            return Ok(place);
        }
        for _ in 0..ROUNDS {
            let resolved = self.resolve(judge, path, op, last)?;
            if let Some(mut place) = self.try_place(resolved.root, &resolved.path, parents, true)?
                && (place.kind() != Some(Kind::Symlink) || last == Last::Itself)
            {
                place.followed = resolved.followed_last;
                return Ok(place);
            }
        }
        Err(GuardError::OUTSIDE)
    }

    /// The place of a path whose directories should hold no link; `None` where they may hold one after all.
    fn try_place(
        &self,
        root: usize,
        path: &[u8],
        parents: bool,
        resolved: bool,
    ) -> Result<Option<Place>, GuardError> {
        let Some(held) = self.root(root) else { return Ok(None) };
        if below(&held.path, path).is_none_or(<[u8]>::is_empty) {
            return Err(GuardError::IsRoot);
        }
        let (above, name) = split_last(path).ok_or(GuardError::IsRoot)?;
        let relative = below(&held.path, above).ok_or(GuardError::IsRoot)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let dir = match self.reach(held, relative, flags)? {
            Err(Errno::NOENT) if !resolved => return Ok(None),
            Err(Errno::NOENT) if parents => match self.make_directories(held.fd(), relative)? {
                Err(Errno::LOOP | Errno::NOTDIR) => return Ok(None),
                made => made.map_err(making)?,
            },
            Err(Errno::LOOP | Errno::NOTDIR) => return Ok(None),
            opened => opened.map_err(GuardError::from_open)?,
        };
        let stat = rustix::fs::fstat(&dir).map_err(GuardError::Io)?;
        self.check_sealed(&stat)?;
        check_device(self.device_of(root), stat.st_dev, dir.as_fd())?;
        let existing = match rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(GuardError::from_open(error)),
        };
        existing.as_ref().map_or(Ok(()), |existing| self.check_sealed(existing))?;
        let (name, path, seals) = (name.to_vec(), path.to_vec(), Arc::clone(self.seals()));
        Ok(Some(Place { dir, name, path, existing, followed: false, seals }))
    }
}

/// Making a directory may fail for reasons that are no refusal of the path.
fn making(error: Errno) -> GuardError {
    match error {
        Errno::NOSPC | Errno::DQUOT | Errno::ROFS | Errno::MLINK => GuardError::Io(error),
        other => GuardError::from_open(other),
    }
}

impl Guard {
    /// Makes the directories of `relative` beneath `root` that are missing, each durable before the next, and opens the
    /// last one. Nothing is made in what is sealed.
    fn make_directories(
        &self,
        root: BorrowedFd<'_>,
        relative: &[u8],
    ) -> Result<Result<OwnedFd, Errno>, GuardError> {
        let mut here = match self.enter(root, b".") {
            Ok(here) => here,
            Err(error) => return Ok(Err(error)),
        };
        for name in parts(relative) {
            self.check_sealed(&rustix::fs::fstat(&here).map_err(GuardError::Io)?)?;
            here = match self.enter(here.as_fd(), name) {
                Ok(next) => next,
                Err(error) => return Ok(Err(error)),
            };
        }
        Ok(Ok(here))
    }

    /// Opens a directory, which is made where it is missing.
    fn enter(&self, here: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        match Resolver::Walk.open(here, name, flags) {
            Err(Errno::NOENT) => {}
            opened => return opened,
        }
        let made = match rustix::fs::mkdirat(here, name, Mode::from_bits_truncate(0o777)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(error),
        };
        let next = Resolver::Walk.open(here, name, flags)?;
        if made {
            give_directory(here, &next);
            self.sync(here)?;
        }
        Ok(next)
    }
}
