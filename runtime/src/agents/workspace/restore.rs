//! Puts a workspace back to a snapshot: first what is to be done, then doing it, through the guard and never through a
//! link.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use policy_lang::policy::ElementRef;
use rustix::fs::{AtFlags, Gid, Mode as Bits, OFlags, Uid};
use rustix::io::Errno;

use super::objects::{Kind, Objects};
use super::tree::{Entry, Manifest, Mode};
use super::walk::Skipped;
use crate::files::write::{WriteOptions, Writer};
use crate::files::{Access, FilesError};
use crate::guard::{
    GuardError, Kind as FileKind, Last, NormalPath, Op, PathJudge, Refusal, RefusalKind, Symlinks,
};

/// A path to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// From the top.
    pub path: Vec<u8>,
    /// What is to lie there.
    pub entry: Entry,
    /// Whether the snapshot of now holds what lies there, so that it may be replaced.
    pub replaces: bool,
}

/// What a restore would do.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Paths to be written.
    pub write: Vec<Write>,
    /// Paths to be removed.
    pub delete: Vec<Vec<u8>>,
    /// Those among both that somebody else has changed since.
    pub conflicts: Vec<Vec<u8>>,
}

/// What a restore has done.
#[derive(Debug, Default)]
pub struct Done {
    /// Written.
    pub restored: Vec<Vec<u8>>,
    /// Removed.
    pub deleted: Vec<Vec<u8>>,
    /// Left as they are.
    pub skipped: Vec<Skipped>,
}

/// Compares what is with what was. `scope` holds the paths that were asked for, all where it is empty; `foreign` what
/// somebody else has changed since.
#[must_use]
pub fn plan(target: &Manifest, now: &Manifest, scope: &[Vec<u8>], foreign: &BTreeSet<Vec<u8>>) -> Plan {
    let asked = |path: &[u8]| scope.is_empty() || scope.iter().any(|asked| within(asked, path));
    let mut plan = Plan::default();
    for (path, entry) in target.iter().filter(|(path, _)| asked(path)) {
        let was = now.get(path);
        if was != Some(entry) {
            plan.write.push(Write { path: path.clone(), entry: *entry, replaces: was.is_some() });
        }
    }
    plan.delete = now.keys().filter(|path| asked(path) && !target.contains_key(*path)).cloned().collect();
    plan.conflicts = plan.touched().filter(|path| foreign.contains(*path)).cloned().collect();
    plan.conflicts.sort_unstable();
    plan
}

impl Plan {
    /// Takes out the paths of which `leave` gives a reason, and yields them with it.
    pub fn leave_out(&mut self, leave: impl Fn(&[u8]) -> Option<String>) -> Vec<Skipped> {
        let mut left = Vec::new();
        let mut keep = |path: &Vec<u8>| match leave(path) {
            None => true,
            Some(why) => {
                left.push(Skipped::new(path, &why));
                false
            }
        };
        self.write.retain(|write| keep(&write.path));
        self.delete.retain(&mut keep);
        left
    }

    /// Every path that it touches.
    pub fn touched(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.write.iter().map(|write| &write.path).chain(&self.delete)
    }
}

/// Whether `path` is `asked` or lies below it.
#[must_use]
pub fn within(asked: &[u8], path: &[u8]) -> bool {
    path.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || asked.is_empty())
}

/// Does it. What the rules refuse, and what cannot be done, is left as it is and told.
///
/// # Errors
/// The time is up, or the caller is gone; what was done until then is done.
pub fn apply(access: Access<'_>, root: &Path, objects: &Objects, plan: &Plan) -> Result<Done, FilesError> {
    let judge = NoLinks(access.judge);
    let links = access.judge.symlinks();
    let hand = Hand { access: Access { judge: &judge, ..access }, root, objects, links };
    let mut done = Done::default();
    // Deepest first, so that a directory is empty when its turn to go comes.
    for path in plan.delete.iter().rev() {
        access.stop.check()?;
        match hand.remove(path) {
            Ok(()) => done.deleted.push(path.clone()),
            Err(error) => done.skipped.push(Skipped::new(path, why(error))),
        }
    }
    done.deleted.reverse();
    for write in &plan.write {
        access.stop.check()?;
        match hand.write(write) {
            Ok(()) => done.restored.push(write.path.clone()),
            Err(error) => done.skipped.push(Skipped::new(&write.path, why(error))),
        }
    }
    Ok(done)
}

/// The reason of a path that was left as it is: the code that a file endpoint would answer.
fn why(error: FilesError) -> &'static str {
    match error {
        FilesError::Guard(GuardError::Refused(refusal)) => match refusal.kind {
            RefusalKind::NotAllowed => "path_not_allowed",
            RefusalKind::Denied => "path_denied",
            RefusalKind::ReadOnly => "read_only",
            RefusalKind::Symlink => "symlink_denied",
            RefusalKind::Extension => "extension_not_allowed",
        },
        FilesError::AlreadyExists
        | FilesError::Guard(GuardError::NotARegularFile | GuardError::NotADirectory) => "in_the_way",
        FilesError::NoSpace => "no_space",
        _ => "failed",
    }
}

struct Hand<'a> {
    access: Access<'a>,
    root: &'a Path,
    objects: &'a Objects,
    /// What the rules say of links; none is passed through either way.
    links: Symlinks,
}

impl Hand<'_> {
    fn path(&self, relative: &[u8]) -> Result<NormalPath, FilesError> {
        NormalPath::new(self.root.as_os_str().as_bytes(), relative).map_err(FilesError::from_guard)
    }

    /// Removes a file or link, and the directories above it that are empty then.
    fn remove(&self, relative: &[u8]) -> Result<(), FilesError> {
        let Access { guard, judge, .. } = self.access;
        let path = self.path(relative)?;
        let place = match guard.place(judge, &path, Op::Delete, Last::Itself, false) {
            Err(GuardError::NotFound) => return Ok(()),
            place => place.map_err(FilesError::from_guard)?,
        };
        match rustix::fs::unlinkat(&place.dir, place.name.as_slice(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::ISDIR) => return Err(GuardError::NotARegularFile.into()),
            Err(error) => return Err(error.into()),
        }
        let mut above = relative;
        while let Some(cut) = memchr::memrchr(b'/', above) {
            above = above.get(..cut).unwrap_or_default();
            let place = guard.place(judge, &self.path(above)?, Op::Delete, Last::Itself, false);
            let gone = place.is_ok_and(|place| {
                rustix::fs::unlinkat(&place.dir, place.name.as_slice(), AtFlags::REMOVEDIR).is_ok()
            });
            if !gone {
                break;
            }
        }
        Ok(())
    }

    fn write(&self, write: &Write) -> Result<(), FilesError> {
        let Access { guard, judge, .. } = self.access;
        let Write { path: relative, entry, replaces } = write;
        let content = self.objects.get(Kind::Blob, entry.oid)?;
        self.make_directories(relative)?;
        let path = self.path(relative)?;
        let place =
            guard.place(judge, &path, Op::Write, Last::Itself, false).map_err(FilesError::from_guard)?;
        let was = place.kind();
        let link = entry.mode == Mode::Link;
        if was.is_some() && !replaces {
            return Err(FilesError::AlreadyExists);
        }
        if was == Some(FileKind::Symlink) || (link && was == Some(FileKind::File)) {
            rustix::fs::unlinkat(&place.dir, place.name.as_slice(), AtFlags::empty())?;
        }
        if link {
            if self.links == Symlinks::Deny {
                return Err(refused(RefusalKind::Symlink));
            }
            rustix::fs::symlinkat(content.as_slice(), &place.dir, place.name.as_slice())?;
            return Ok(guard.sync(&place.dir)?);
        }
        let options = WriteOptions { overwrite: *replaces, ..WriteOptions::default() };
        let mut writer = Writer::begin(self.access, &path, options)?;
        writer.write(&content)?;
        writer.finish()?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&place.dir, place.name.as_slice(), flags, Bits::empty())?;
        let now = rustix::fs::fstat(&file)?;
        guard.check_sealed(&now)?;
        // Who may read it may execute it, as git does.
        let mode = if entry.mode == Mode::Executable {
            now.st_mode | (now.st_mode & 0o444) >> 2
        } else {
            now.st_mode & !0o111
        };
        rustix::fs::fchmod(&file, Bits::from_bits_truncate(mode & 0o777))?;
        if was.is_none() {
            self.give_away(&file);
        }
        Ok(())
    }

    /// Makes the directories above a path; new ones belong to whom the workspace belongs.
    fn make_directories(&self, relative: &[u8]) -> Result<(), FilesError> {
        let Access { guard, judge, .. } = self.access;
        for cut in memchr::memchr_iter(b'/', relative) {
            let path = self.path(relative.get(..cut).unwrap_or_default())?;
            let place =
                guard.place(judge, &path, Op::Write, Last::Itself, false).map_err(FilesError::from_guard)?;
            if place.existing.is_some() {
                continue;
            }
            match rustix::fs::mkdirat(&place.dir, place.name.as_slice(), Bits::from_bits_truncate(0o777)) {
                Ok(()) => {
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    let made = rustix::fs::openat(&place.dir, place.name.as_slice(), flags, Bits::empty())?;
                    // Another may have taken its name.
                    guard.check_sealed(&rustix::fs::fstat(&made)?)?;
                    self.give_away(&made);
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// What the server makes belongs to whom the workspace belongs, where the server may give it away.
    fn give_away(&self, made: &rustix::fd::OwnedFd) {
        if let Ok(owner) = rustix::fs::lstat(self.root) {
            let (user, group) = (Uid::from_raw(owner.st_uid), Gid::from_raw(owner.st_gid));
            let _ = rustix::fs::fchown(made, Some(user), Some(group));
        }
    }
}

fn refused(kind: RefusalKind) -> FilesError {
    FilesError::Guard(GuardError::Refused(Refusal::own(kind)))
}

/// The rules, passing through no link whatever they say.
struct NoLinks<'a>(&'a dyn PathJudge);

impl PathJudge for NoLinks<'_> {
    fn judge(&self, path: &[u8], op: Op) -> Result<(), Refusal> {
        self.0.judge(path, op)
    }

    fn judge_real(&self, path: &[u8], op: Op) -> Result<(), Refusal> {
        self.0.judge_real(path, op)
    }

    fn judge_linked_root(&self) -> Result<(), Refusal> {
        self.0.judge_linked_root()
    }

    fn symlinks(&self) -> Symlinks {
        Symlinks::Deny
    }

    fn symlinks_element(&self) -> ElementRef {
        self.0.symlinks_element()
    }

    fn narrows_below(&self, dir: &[u8], op: Op) -> bool {
        self.0.narrows_below(dir, op)
    }
}
