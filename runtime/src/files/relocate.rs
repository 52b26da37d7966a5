//! Moving and renaming.

use super::claim::{Entry, claim};
use super::delete::{open_top, survey};
use super::{Access, FilesError};
use crate::guard::{GuardError, Kind, Last, NormalPath, Op, Place};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;

/// Most entries of a tree that are looked at before it is moved.
const MAX_ENTRIES: u64 = 1_000_000;

/// Which end of a move an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Where it comes from.
    Source,
    /// Where it goes.
    Destination,
}

/// Both ends after a move, links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Where it was.
    pub source: Vec<u8>,
    /// Where it is.
    pub destination: Vec<u8>,
}

/// Moves a file, a link or a tree. A link at either end stands for itself. Missing parents of the destination are
/// made. What lies there is replaced where `overwrite` says so: a file by a file, an empty directory by a directory.
///
/// # Errors
///
/// The error and the end that it is about.
pub fn relocate(
    access: Access<'_>,
    source: &NormalPath,
    destination: &NormalPath,
    overwrite: bool,
) -> Result<Moved, (FilesError, End)> {
    let at_source = |error| (FilesError::from_guard(error), End::Source);
    let at_destination = |error| (FilesError::from_guard(error), End::Destination);
    // Both ends are judged before either is looked at.
    access
        .guard
        .judge(access.judge, source.as_bytes(), Op::Delete)
        .map_err(|error| at_source(error.into()))?;
    access
        .guard
        .judge(access.judge, destination.as_bytes(), Op::Write)
        .map_err(|error| at_destination(error.into()))?;
    let from =
        access.guard.place(access.judge, source, Op::Delete, Last::Itself, false).map_err(at_source)?;
    if access.guard.holds_base(&from.path) {
        return Err(at_source(GuardError::IsRoot));
    }
    let Some(kind) = from.kind() else { return Err(at_source(GuardError::NotFound)) };
    if source.asks_directory() && kind != Kind::Directory {
        return Err(at_source(GuardError::NotFound));
    }
    if kind == Kind::Directory && crate::guard::is_below(&from.path, destination.as_bytes()) {
        return Err((FilesError::Conflict("a directory cannot be moved into itself"), End::Destination));
    }
    let to = access
        .guard
        .place(access.judge, destination, Op::Write, Last::Itself, true)
        .map_err(at_destination)?;
    if destination.asks_directory() && kind != Kind::Directory {
        return Err((FilesError::Conflict("the destination is not a directory"), End::Destination));
    }
    if kind == Kind::Directory {
        judge_tree(access, &from, &to)?;
    }
    rename(&from, &to, overwrite).map_err(|error| (error, End::Destination))?;
    for dir in [&to.dir, &from.dir] {
        access.guard.sync(dir).map_err(|error| (error.into(), End::Destination))?;
    }
    Ok(Moved { source: from.path, destination: to.path })
}

/// Every entry of a tree must be free to leave where it is and to arrive where it goes.
fn judge_tree(access: Access<'_>, from: &Place, to: &Place) -> Result<(), (FilesError, End)> {
    let Access { guard, judge, .. } = access;
    if let Some(dir) = &from.existing {
        guard.check_below(dir).map_err(|error| (FilesError::from_guard(error), End::Source))?;
    }
    if !guard.narrows_below(judge, &from.path, Op::Delete) && !guard.narrows_below(judge, &to.path, Op::Write)
    {
        return Ok(());
    }
    let mut end = End::Source;
    let top = open_top(from).map_err(|error| (error, End::Source))?;
    survey(access, &top, MAX_ENTRIES, &mut |path| {
        end = End::Source;
        guard.judge(judge, path, Op::Delete)?;
        end = End::Destination;
        let below = path.get(from.path.len()..).unwrap_or_default();
        Ok(guard.judge(judge, &[to.path.as_slice(), below].concat(), Op::Write)?)
    })
    .map_err(|error| (error, end))?;
    Ok(())
}

fn rename(from: &Place, to: &Place, overwrite: bool) -> Result<(), FilesError> {
    let (old, new) = (from.name.as_slice(), to.name.as_slice());
    match take((&from.dir, old), (&to.dir, new), overwrite) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST | Errno::NOTEMPTY) => Err(FilesError::AlreadyExists),
        Err(Errno::ISDIR) => Err(FilesError::Conflict("the destination is a directory")),
        Err(Errno::NOTDIR) => Err(FilesError::Conflict("the destination is not a directory")),
        Err(Errno::INVAL) => Err(FilesError::Conflict("a directory cannot be moved into itself")),
        Err(Errno::BUSY) => Err(FilesError::Conflict("the source is in use as a mount point")),
        Err(Errno::XDEV) => copy_across(from, to, overwrite),
        Err(error) => Err(error.into()),
    }
}

/// Renames; without `overwrite` only to a name that is free.
fn take(old: Entry<'_, OwnedFd>, new: Entry<'_, OwnedFd>, overwrite: bool) -> Result<(), Errno> {
    if overwrite { rustix::fs::renameat(old.0, old.1, new.0, new.1) } else { claim(old, new) }
}

/// Moves between file systems: copies next to the destination, renames, then removes the source.
fn copy_across(from: &Place, to: &Place, overwrite: bool) -> Result<(), FilesError> {
    // What may not leave is not copied either.
    rustix::fs::accessat(&from.dir, c".", rustix::fs::Access::WRITE_OK, AtFlags::empty())?;
    let temporary = format!(".move-{}.part", uuid::Uuid::new_v4().simple());
    match from.kind() {
        Some(Kind::File) => copy_file(from, &to.dir, &temporary)?,
        Some(Kind::Symlink) => {
            let target = rustix::fs::readlinkat(&from.dir, from.name.as_slice(), Vec::new())?;
            rustix::fs::symlinkat(target, &to.dir, temporary.as_str())?;
        }
        _ => return Err(FilesError::Conflict("only files and links can be moved to another file system")),
    }
    let renamed = take((&to.dir, temporary.as_bytes()), (&to.dir, to.name.as_slice()), overwrite);
    if let Err(error) = renamed {
        let _ = rustix::fs::unlinkat(&to.dir, temporary.as_str(), AtFlags::empty());
        return Err(match error {
            Errno::EXIST => FilesError::AlreadyExists,
            Errno::ISDIR => FilesError::Conflict("the destination is a directory"),
            other => other.into(),
        });
    }
    Ok(rustix::fs::unlinkat(&from.dir, from.name.as_slice(), AtFlags::empty())?)
}

fn copy_file(from: &Place, dir: &OwnedFd, name: &str) -> Result<(), FilesError> {
    let (source, stat) = crate::guard::Dir::above(from)
        .and_then(|above| above.open_file(&from.name))
        .map_err(FilesError::from_guard)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let target = rustix::fs::openat(dir, name, flags, Mode::RUSR | Mode::WUSR)?;
    let copied = copy_content(&source, &target).and_then(|()| {
        let _ =
            rustix::fs::fchown(&target, Some(Uid::from_raw(stat.st_uid)), Some(Gid::from_raw(stat.st_gid)));
        rustix::fs::fchmod(&target, Mode::from_bits_truncate(stat.st_mode & 0o777))?;
        Ok(rustix::fs::fsync(&target)?)
    });
    if copied.is_err() {
        let _ = rustix::fs::unlinkat(dir, name, AtFlags::empty());
    }
    copied
}

fn copy_content(source: &OwnedFd, target: &OwnedFd) -> Result<(), FilesError> {
    let mut reader = std::fs::File::from(source.try_clone()?);
    let mut writer = std::fs::File::from(target.try_clone()?);
    std::io::copy(&mut reader, &mut writer)?;
    Ok(())
}
