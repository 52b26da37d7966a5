//! What is sealed by what it is, whatever it has come to be called: the audit file and the state directory.
//!
//! Who may rename a directory above them, or make a hard link, gives them a name that no path rule knows. Device and inode
//! stay, and are asked of the handle that is used, never of a name.

use super::verdict::{Refusal, RefusalKind};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

/// What tells a file from every other, as long as it exists.
pub type Identity = (u64, u64);

/// Directories above one that are looked at; far more than a path can have.
const DEEPEST: usize = 4096;

/// How a directory is held that is only known.
const HELD: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The sealed things of a server, shared by its guards and by those who make and open these things.
#[derive(Debug, Default)]
pub struct Seals(RwLock<Inner>);

#[derive(Debug, Default)]
struct Inner {
    known: Known,
    /// Where the audit file lies.
    folder: Option<Arc<OwnedFd>>,
    /// Held, so that its inode is given to nothing else.
    state: Option<Arc<OwnedFd>>,
}

/// The identities of one moment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Known {
    log: Option<Identity>,
    state: Option<Identity>,
}

impl Known {
    /// Whether anything is sealed.
    pub(super) const fn any(self) -> bool {
        self.log.is_some() || self.state.is_some()
    }

    /// Whether this is sealed.
    fn seals(self, found: Identity) -> bool {
        self.log == Some(found) || self.state == Some(found)
    }

    /// Whether something of this inode, on whatever device, is sealed.
    pub(super) fn may_seal(self, inode: u64) -> bool {
        let is = |known: Option<Identity>| known.is_some_and(|(_, known)| known == inode);
        is(self.log) || is(self.state)
    }
}

impl Seals {
    /// Opens the audit file, which lies in `folder`, by `open`, and seals it in the place of the one before. Nobody who
    /// has opened it already, if that made it, is told that it is not sealed: all wait meanwhile.
    ///
    /// # Errors
    /// That of `open`; the one before stays sealed.
    pub fn seal_log<T, E>(
        &self,
        folder: &Arc<OwnedFd>,
        open: impl FnOnce() -> Result<(T, Identity), E>,
    ) -> Result<T, E> {
        let mut inner = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let (opened, identity) = open()?;
        inner.known.log = Some(identity);
        inner.folder = Some(Arc::clone(folder));
        Ok(opened)
    }

    /// Seals the state directory, where it is there. One that is sealed already stays it, whatever lies at its path by now,
    /// unless it was removed.
    pub fn hold_state(&self, path: &Path) {
        let mut inner = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let held = inner.state.as_ref().and_then(|held| rustix::fs::fstat(held).ok());
        if held.is_some_and(|held| held.st_nlink > 0) {
            return;
        }
        let Ok(found) = rustix::fs::openat(CWD, path, HELD, Mode::empty()) else { return };
        let Ok(stat) = rustix::fs::fstat(&found) else { return };
        inner.known.state = Some(identity(&stat));
        inner.state = Some(Arc::new(found));
    }

    /// What is sealed now. Whoever has a handle asks afterwards, so that nothing is sealed in between.
    pub(crate) fn known(&self) -> Known {
        self.0.read().unwrap_or_else(PoisonError::into_inner).known
    }

    /// Refuses what is sealed.
    pub(crate) fn check(&self, stat: &Stat) -> Result<(), Refusal> {
        self.check_identity(identity(stat))
    }

    /// The same by device and inode.
    pub(super) fn check_identity(&self, found: Identity) -> Result<(), Refusal> {
        if self.known().seals(found) { Err(Refusal::own(RefusalKind::Denied)) } else { Ok(()) }
    }

    /// Refuses a directory that holds something sealed, however deep, without looking into it. Where that cannot be told
    /// it is refused.
    pub(super) fn check_below(&self, dir: &Stat) -> Result<(), Refusal> {
        let held = {
            let inner = self.0.read().unwrap_or_else(PoisonError::into_inner);
            [inner.folder.clone(), inner.state.clone()]
        };
        let above = |held: &Arc<OwnedFd>| lies_in(held, identity(dir)).unwrap_or(true);
        if held.iter().flatten().any(above) { Err(Refusal::own(RefusalKind::Denied)) } else { Ok(()) }
    }
}

/// Device and inode.
pub(crate) const fn identity(stat: &Stat) -> Identity {
    (stat.st_dev, stat.st_ino)
}

/// Whether the directory `from` is `dir` or lies in it: the way up, as it is now.
fn lies_in(from: impl AsFd, dir: Identity) -> Result<bool, Errno> {
    let mut here = rustix::fs::openat(from, c".", HELD, Mode::empty())?;
    let mut at = identity(&rustix::fs::fstat(&here)?);
    for _ in 0..DEEPEST {
        if at == dir {
            return Ok(true);
        }
        let up = rustix::fs::openat(&here, c"..", HELD, Mode::empty())?;
        let above = identity(&rustix::fs::fstat(&up)?);
        if above == at {
            return Ok(false);
        }
        (here, at) = (up, above);
    }
    Err(Errno::NAMETOOLONG)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    fn stat(path: &Path) -> Stat {
        rustix::fs::stat(path).unwrap()
    }

    #[test]
    fn a_file_takes_the_seal_of_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (dir.path().join("first"), dir.path().join("second"));
        let folder = Arc::new(OwnedFd::from(File::open(dir.path()).unwrap()));
        let seals = Seals::default();
        for path in [&first, &second] {
            fs::write(path, "").unwrap();
            seals.seal_log(&folder, || Ok::<_, Errno>(((), identity(&stat(path))))).unwrap();
            let sealed = [&first, &second].map(|path| path.exists() && seals.check(&stat(path)).is_err());
            assert_eq!(sealed, [path == &first, path == &second]);
        }
        seals.seal_log(&folder, || Err::<((), _), _>(Errno::NOSPC)).unwrap_err();
        assert!(seals.check(&stat(&second)).is_err());
        assert!(seals.known().may_seal(stat(&second).st_ino) && !seals.known().may_seal(0));
    }

    #[test]
    fn a_state_directory_is_sealed_until_it_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let (state, moved) = (dir.path().join("state"), dir.path().join("in/moved"));
        let seals = Seals::default();
        seals.hold_state(&state);
        assert!(!seals.known().any());
        fs::create_dir(&state).unwrap();
        fs::create_dir(dir.path().join("in")).unwrap();
        seals.hold_state(&state);
        fs::rename(&state, &moved).unwrap();
        fs::create_dir(&state).unwrap();
        seals.hold_state(&state);
        assert!(seals.check(&stat(&moved)).is_err() && seals.check(&stat(&state)).is_ok());
        for (path, holds) in [("in/moved", true), ("in", true), (".", true), ("/", true), ("state", false)] {
            assert_eq!(seals.check_below(&stat(&dir.path().join(path))).is_err(), holds, "{path}");
        }
        fs::remove_dir(&moved).unwrap();
        seals.hold_state(&state);
        assert!(seals.check(&stat(&state)).is_err());
    }
}
