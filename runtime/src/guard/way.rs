//! The way to a directory that a policy names: opened beneath a handle, and told where it ends early.

mod follow;

use super::Resolver;
use super::foreign::is_foreign;
use super::held::{DIRECTORY, Root};
use super::path::{below, join};
use hashbrown::HashSet;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;

/// What becomes of a link on the way to a directory that a policy names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// It is refused: it lies where children may have put it.
    Refused,
    /// It is told, and nothing is opened yet.
    Told,
    /// It is followed outside of what is held, where nobody but root or the server's own user can have put it.
    Trusted,
    /// It is followed wherever it lies outside of what is held.
    Followed,
}

/// Where a way ends.
#[derive(Debug)]
pub(super) enum End {
    /// At the directory itself.
    There(Root),
    /// Above it: nothing further can be opened.
    Above {
        /// The last directory on the way; `None` where that is the one it began at.
        nearest: Option<Root>,
        /// Why.
        why: Errno,
        /// Whether what comes next is a link.
        link: bool,
    },
}

/// How ways are gone.
#[derive(Debug)]
pub(super) struct Ways {
    resolver: Resolver,
    /// The directories at and below which no link is followed, however they are reached.
    closed: HashSet<(u64, u64)>,
    /// Where the links that were followed really lie.
    pub(super) followed: Vec<Vec<u8>>,
}

/// Whether an error tells of the process, not of the path.
pub(super) const fn is_of_process(error: Errno) -> bool {
    matches!(error, Errno::MFILE | Errno::NFILE | Errno::NOMEM)
}

impl Ways {
    pub(super) fn new(resolver: Resolver) -> Self {
        Self { resolver, closed: HashSet::new(), followed: Vec::new() }
    }

    /// Follows no link at or below `held` any more.
    pub(super) fn close<'r>(&mut self, held: impl IntoIterator<Item = &'r Root>) {
        self.closed.extend(held.into_iter().map(Root::identity));
    }

    /// Goes from `from` to `to`, a path below it.
    ///
    /// # Errors
    /// The system's error where it lies in the process. Whatever is wrong with the path itself ends the way early: who
    /// can write there must not be able to stop the server.
    pub(super) fn go(&mut self, from: &Root, to: &[u8], links: Links) -> Result<End, Errno> {
        let relative = below(&from.path, to).unwrap_or_default();
        if memchr::memchr(b'/', relative).is_some() {
            let opened = self.resolver.open(from.fd(), relative, DIRECTORY);
            match opened.and_then(|fd| from.beneath(fd, to)) {
                Ok(root) => return Ok(End::There(root)),
                Err(error) if is_of_process(error) => return Err(error),
                // Which part it is shows on foot.
                Err(_) => {}
            }
        }
        self.walk(from, to, relative, links)
    }

    /// The same, one part after the other.
    fn walk(&mut self, from: &Root, to: &[u8], relative: &[u8], links: Links) -> Result<End, Errno> {
        // Behind the last link that was followed.
        let mut behind: Option<Root> = None;
        let mut fd: Option<OwnedFd> = None;
        let mut start = to.len() - relative.len();
        for name in relative.split(|byte| *byte == b'/') {
            let path = to.get(..start + name.len()).unwrap_or(to);
            let above = to.get(..start.saturating_sub(1).max(1)).unwrap_or(to);
            start += name.len() + 1;
            let from = behind.as_ref().unwrap_or(from);
            let here = fd.as_ref().map_or(from.fd(), OwnedFd::as_fd);
            let why = match open(here, name) {
                Ok(next) => {
                    fd = Some(next);
                    continue;
                }
                Err(error) if is_of_process(error) => return Err(error),
                Err(error) => error,
            };
            let link = matches!(why, Errno::LOOP | Errno::NOTDIR)
                && rustix::fs::readlinkat(here, name, Vec::new()).is_ok();
            let followed = match links {
                Links::Trusted | Links::Followed if link => {
                    let at = join(&join(from.real(), below(&from.path, above).unwrap_or_default()), name);
                    match self.follow(&at, links == Links::Trusted) {
                        Ok((fd, real)) => Root::new(fd, path, Some(real)),
                        Err(error) => Err(error),
                    }
                }
                _ if link => Err(Errno::LOOP),
                _ => Err(why),
            };
            match followed {
                Ok(root) => (behind, fd) = (Some(root), None),
                Err(error) if is_of_process(error) => return Err(error),
                Err(why) => {
                    let nearest = match fd.map(|fd| from.beneath(fd, above)) {
                        Some(Err(error)) if is_of_process(error) => return Err(error),
                        Some(Ok(root)) => Some(root),
                        _ => behind,
                    };
                    return Ok(End::Above { nearest, why, link });
                }
            }
        }
        match (fd.map(|fd| behind.as_ref().unwrap_or(from).beneath(fd, to)), behind) {
            (Some(Err(error)), _) if is_of_process(error) => Err(error),
            (Some(Err(why)), nearest) => Ok(End::Above { nearest, why, link: false }),
            (Some(Ok(root)), _) | (None, Some(root)) => Ok(End::There(root)),
            // No part, so that there was no way to go.
            (None, None) => Ok(End::Above { nearest: None, why: Errno::INVAL, link: false }),
        }
    }
}

/// Opens a directory that is neither a link nor on a kernel file system.
fn open(dir: impl AsFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    let fd = Resolver::Walk.open(dir.as_fd(), name, DIRECTORY)?;
    if is_foreign(&fd)? { Err(Errno::ACCESS) } else { Ok(fd) }
}
