//! Removing a file or a tree.

use super::descent::Descent;
use super::{Access, FilesError};
use crate::guard::{
    Dir, GuardError, Kind, Last, Listed, ListingBuffer, NormalPath, Op, Place, Refusal, RefusalKind,
};
use rustix::fs::AtFlags;
use rustix::io::Errno;
use std::ops::ControlFlow;

/// How often a directory that keeps filling up is emptied again.
const ROUNDS: usize = 8;

/// Removes what lies at a path; a link is removed itself. Answers how many entries went.
///
/// A directory that holds an entry which the rules deny or keep read-only is refused whole, before anything is
/// removed.
///
/// # Errors
///
/// A refusal, not found, [`FilesError::TooManyEntries`] before anything is removed, [`FilesError::Incomplete`] where
/// an entry cannot be removed: another call goes on from there.
pub fn delete(access: Access<'_>, path: &NormalPath, limit: u64) -> Result<u64, FilesError> {
    let place = access
        .guard
        .place(access.judge, path, Op::Delete, Last::Itself, false)
        .map_err(FilesError::from_guard)?;
    if access.guard.holds_base(&place.path) {
        return Err(GuardError::IsRoot.into());
    }
    let removed = match place.kind() {
        None => return Err(GuardError::NotFound.into()),
        Some(Kind::Directory) => delete_tree(access, &place, limit)?,
        Some(_) if path.asks_directory() => return Err(GuardError::NotFound.into()),
        Some(_) => {
            rustix::fs::unlinkat(&place.dir, place.name.as_slice(), AtFlags::empty())?;
            1
        }
    };
    access.guard.sync(&place.dir)?;
    Ok(removed)
}

fn delete_tree(access: Access<'_>, place: &Place, limit: u64) -> Result<u64, FilesError> {
    let top = open_top(place)?;
    survey(access, &top, limit, &mut |path| {
        access.guard.judge(access.judge, path, Op::Delete).map_err(Into::into)
    })?;
    let mut removed = 0;
    let emptied = remove_below(access, &top, &mut removed);
    let emptied = emptied.and_then(|()| {
        rustix::fs::unlinkat(&place.dir, place.name.as_slice(), AtFlags::REMOVEDIR).map_err(FilesError::from)
    });
    match emptied {
        Ok(()) => Ok(removed + 1),
        // Nothing can go from there, and that is not a deletion that stopped half way.
        Err(FilesError::Io(Errno::ROFS)) if removed == 0 => Err(FilesError::ReadOnlySystem),
        Err(FilesError::Io(errno)) => Err(FilesError::Incomplete { removed, errno }),
        Err(other) => Err(other),
    }
}

/// The directory at a place, as the top of a tree.
pub(super) fn open_top(place: &Place) -> Result<Dir, FilesError> {
    Dir::at(place).map_err(FilesError::from_guard)
}

/// Looks at a whole tree before anything is done to it: how many entries it has, and whether `judge` passes each.
pub(super) fn survey(
    access: Access<'_>,
    top: &Dir,
    limit: u64,
    judge: &mut dyn FnMut(&[u8]) -> Result<(), GuardError>,
) -> Result<u64, FilesError> {
    let mut count = 0;
    let mut buffer = ListingBuffer::default();
    let mut walk = Descent::new(top, names(top, &mut buffer)?);
    loop {
        access.stop.check()?;
        let (dir, left) = walk.here();
        let Some((name, kind)) = left.pop() else {
            if walk.leave()?.is_none() {
                return Ok(count);
            }
            continue;
        };
        count += 1;
        if count > limit {
            return Err(FilesError::TooManyEntries { limit });
        }
        judge(&[dir.path(), b"/", &name].concat()).map_err(FilesError::from_guard)?;
        if kind == Kind::Directory {
            match dir.open_dir(&name) {
                Ok(next) => {
                    let left = names(&next, &mut buffer)?;
                    walk.enter(name, next, left);
                }
                // What became something else meanwhile is judged by its name alone; the work that follows opens it anew.
                Err(GuardError::NotFound | GuardError::NotADirectory) => {}
                // What cannot be looked into may hold what is not to be touched.
                Err(error) => return Err(FilesError::from_guard(error)),
            }
        }
    }
}

/// What lies in a directory; a refusal where something of it is sealed.
fn names(dir: &Dir, buffer: &mut ListingBuffer) -> Result<Vec<(Vec<u8>, Kind)>, FilesError> {
    let (mut names, mut refused) = (Vec::new(), false);
    dir.read(buffer, |Listed { name, kind, sealed }| {
        if sealed {
            refused = true;
            return ControlFlow::Break(());
        }
        let kind = kind.or_else(|| dir.stat(name).ok().as_ref().map(crate::guard::kind_of));
        names.extend(kind.map(|kind| (name.to_vec(), kind)));
        ControlFlow::Continue(())
    })?;
    if refused { Err(FilesError::from_guard(Refusal::own(RefusalKind::Denied).into())) } else { Ok(names) }
}

/// What is left to do in a directory that is being emptied.
struct Emptying {
    left: Vec<(Vec<u8>, Kind)>,
    rounds: usize,
}

/// Empties a directory, the deepest entries first. Directories are entered by handle and never through a link.
fn remove_below(access: Access<'_>, top: &Dir, removed: &mut u64) -> Result<(), FilesError> {
    let mut buffer = ListingBuffer::default();
    let mut walk = Descent::new(top, Emptying { left: names(top, &mut buffer)?, rounds: 0 });
    loop {
        access.stop.check()?;
        let (dir, here) = walk.here();
        let Some((name, kind)) = here.left.pop() else {
            // Emptied: its own entry goes with the next directory up.
            let Some(name) = walk.leave()? else { return Ok(()) };
            let (above, here) = walk.here();
            match rustix::fs::unlinkat(above.fd(), name.as_slice(), AtFlags::REMOVEDIR) {
                Ok(()) => *removed += 1,
                Err(Errno::NOENT) => {}
                Err(Errno::NOTEMPTY | Errno::NOTDIR) if here.rounds < ROUNDS => {
                    here.rounds += 1;
                    let kind = above.stat(&name).map(|stat| crate::guard::kind_of(&stat));
                    here.left.extend(kind.ok().map(|kind| (name, kind)));
                }
                Err(error) => return Err(FilesError::Io(error)),
            }
            continue;
        };
        let path = [dir.path(), b"/", &name].concat();
        access.guard.judge(access.judge, &path, Op::Delete).map_err(GuardError::from)?;
        if kind == Kind::Directory {
            match dir.open_dir(&name) {
                Ok(next) => {
                    let left = names(&next, &mut buffer)?;
                    walk.enter(name, next, Emptying { left, rounds: 0 });
                    continue;
                }
                Err(GuardError::NotFound) => continue,
                // It is a link or a file by now: that goes, not what it names.
                Err(GuardError::NotADirectory) => {}
                Err(error) => return Err(FilesError::from_guard(error)),
            }
        }
        match rustix::fs::unlinkat(dir.fd(), name.as_slice(), AtFlags::empty()) {
            Ok(()) => *removed += 1,
            Err(Errno::NOENT) => {}
            Err(Errno::ISDIR) if here.rounds < ROUNDS => {
                here.rounds += 1;
                here.left.push((name, Kind::Directory));
            }
            Err(error) => return Err(FilesError::Io(error)),
        }
    }
}
