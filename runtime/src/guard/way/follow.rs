//! A link on the way to a directory that a policy names, followed part by part.

use super::{DIRECTORY, Ways};
use crate::guard::foreign::is_foreign;
use crate::guard::judging::is_never;
use crate::guard::kind::{Kind, kind_of};
use crate::guard::path::{join, parts, split_last};
use crate::guard::{Resolver, held::Root};
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{OFlags, Stat};
use rustix::io::Errno;

/// As many links as the kernel would follow.
const MAX_LINKS: usize = 40;

/// How far a link has been followed.
struct Place {
    fd: OwnedFd,
    /// The absolute path, without links.
    real: Vec<u8>,
    /// Whether it lies at or below a directory in which no link is followed.
    closed: bool,
    /// Whether somebody else than the operator can rename one of its directories.
    loose: bool,
    stat: Stat,
}

impl Place {
    /// Whether nobody but the operator can have put a link here, or moved one here.
    fn keeps(&self, link: &Stat) -> bool {
        !self.loose && is_operators(link) && is_operators(&self.stat) && !others_write(&self.stat)
    }

    /// Whether an entry of the operator's stays here until he takes it away.
    fn holds_on(&self) -> bool {
        is_operators(&self.stat) && (!others_write(&self.stat) || self.stat.st_mode & STICKY != 0)
    }
}

/// Only the owner of an entry renames it.
const STICKY: u32 = 0o1000;

impl Ways {
    /// Opens the directory that the link at `link`, an absolute path whose directories are no links, leads to, and says
    /// where that really lies. Each link on the way is judged by where it lies itself.
    ///
    /// # Errors
    /// [`Errno::LOOP`] for a link that is not followed, or the system's error.
    pub(super) fn follow(&mut self, link: &[u8], trusted: bool) -> Result<(OwnedFd, Vec<u8>), Errno> {
        // What lies ahead, the next part last.
        let mut ahead: Vec<Vec<u8>> = Vec::new();
        push(&mut ahead, link);
        let mut here = self.top()?;
        let mut links = 0;
        while let Some(name) = ahead.pop() {
            if name == b".." {
                push(&mut ahead, split_last(&here.real).map_or(b"/", |(dir, _)| dir));
                here = self.top()?;
                continue;
            }
            let fd = Resolver::Walk.open(here.fd.as_fd(), &name, OFlags::PATH)?;
            let stat = rustix::fs::fstat(&fd)?;
            // Before the text of a link is read: those of procfs lead anywhere.
            if is_foreign(&fd)? {
                return Err(Errno::ACCESS);
            }
            match kind_of(&stat) {
                Kind::Directory => {
                    let closed = here.closed || self.closed.contains(&(stat.st_dev, stat.st_ino));
                    let loose = here.loose || !here.holds_on();
                    here = Place { fd, real: join(&here.real, &name), closed, loose, stat };
                }
                Kind::Symlink => {
                    links += 1;
                    if here.closed || links > MAX_LINKS || (trusted && !here.keeps(&stat)) {
                        return Err(Errno::LOOP);
                    }
                    let target = rustix::fs::readlinkat(&fd, "", Vec::new())?;
                    self.followed.push(join(&here.real, &name));
                    push(&mut ahead, target.to_bytes());
                    if target.to_bytes().first() == Some(&b'/') {
                        here = self.top()?;
                    }
                }
                _ => return Err(Errno::NOTDIR),
            }
        }
        if is_never(&here.real) { Err(Errno::ACCESS) } else { Ok((here.fd, here.real)) }
    }

    fn top(&self) -> Result<Place, Errno> {
        let top = Root::top()?;
        let closed = self.closed.contains(&top.identity());
        let fd = Resolver::Walk.open(top.fd(), b".", DIRECTORY)?;
        let stat = rustix::fs::fstat(&fd)?;
        Ok(Place { fd, real: b"/".to_vec(), closed, loose: false, stat })
    }
}

/// Puts the parts of `path` before what lies ahead.
fn push(ahead: &mut Vec<Vec<u8>>, path: &[u8]) {
    ahead.extend(parts(path).rev().map(<[u8]>::to_vec));
}

/// Whether something belongs to somebody who could have written the policy as well. Children may run as another user.
fn is_operators(stat: &Stat) -> bool {
    stat.st_uid == 0 || stat.st_uid == rustix::process::geteuid().as_raw()
}

/// Whether everybody may write into a directory.
const fn others_write(dir: &Stat) -> bool {
    dir.st_mode & 0o002 != 0
}
