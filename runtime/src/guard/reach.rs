//! Opening beneath a root, past nothing that is sealed.

use super::held::Root;
use super::path::{below, parts};
use super::root::Guard;
use super::{GuardError, Resolver};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{OFlags, Stat};
use rustix::io::Errno;

/// How a directory on the way is opened.
const ON_THE_WAY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

impl Guard {
    /// Opens what lies at `relative` beneath a root, as [`Resolver::open`] does.
    ///
    /// One call tells nothing of the directories on the way. Where a sealed directory belongs below the root, so that
    /// whoever writes there may rename it, they are opened one by one.
    pub(super) fn reach(
        &self,
        root: &Root,
        relative: &[u8],
        flags: OFlags,
    ) -> Result<Result<OwnedFd, Errno>, GuardError> {
        // It may have been opened under a name that was given to it.
        self.seals().check_identity(root.identity())?;
        let holds = |dir: &[u8]| below(&root.path, dir).or_else(|| below(root.real(), dir)).is_some();
        if !self.sealed_dirs().iter().any(|dir| holds(dir)) {
            return Ok(self.resolver().open(root.fd(), relative, flags));
        }
        let (mut names, mut held) = (parts(relative).peekable(), None::<OwnedFd>);
        loop {
            let here = held.as_ref().map_or(root.fd(), OwnedFd::as_fd);
            let name = names.next().unwrap_or_default();
            if names.peek().is_none() {
                return Ok(Resolver::Walk.open(here, name, flags));
            }
            match self.step(here, name)? {
                Ok(next) => held = Some(next),
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    fn step(&self, here: BorrowedFd<'_>, name: &[u8]) -> Result<Result<OwnedFd, Errno>, GuardError> {
        let next = match Resolver::Walk.open(here, name, ON_THE_WAY) {
            Ok(next) => next,
            Err(error) => return Ok(Err(error)),
        };
        self.check_sealed(&rustix::fs::fstat(&next).map_err(GuardError::Io)?)?;
        Ok(Ok(next))
    }

    /// Refuses what is sealed, by what it is; for who opens something in a directory that the guard has opened.
    ///
    /// # Errors
    ///
    /// The refusal.
    pub fn check_sealed(&self, stat: &Stat) -> Result<(), GuardError> {
        Ok(self.seals().check(stat)?)
    }

    /// Refuses a directory that holds something sealed, however deep and under whatever name: it must not be carried away.
    ///
    /// # Errors
    ///
    /// The refusal.
    pub fn check_below(&self, dir: &Stat) -> Result<(), GuardError> {
        Ok(self.seals().check_below(dir)?)
    }
}
