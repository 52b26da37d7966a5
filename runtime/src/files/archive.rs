//! Packing paths into an archive, within limits and without following a link.
//!
//! The archive is complete before a byte of it is answered, since its size stands beside it; it waits in a
//! [`Spool`], and the caps are checked as it grows.

mod bounded;
mod tar;
mod zip;

use self::bounded::{Capped, Exact};
use super::descent::Descent;
use super::{Access, FilesError, Spool};
use crate::guard::{Dir, Guard, GuardError, Kind, Listed, ListingBuffer, NormalPath, Op, Opened};
use rustix::fd::OwnedFd;
use rustix::fs::Stat;
use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Read;
use std::ops::ControlFlow;

/// What an archive is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A tar archive, compressed with gzip.
    TarGz,
    /// A zip archive.
    Zip,
}

impl Format {
    /// By its name in a request.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "tar.gz" => Some(Self::TarGz),
            "zip" => Some(Self::Zip),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TarGz => "tar.gz",
            Self::Zip => "zip",
        }
    }
}

/// Caps of an archive.
#[derive(Debug, Clone, Copy)]
pub struct ArchiveOptions {
    /// What to write.
    pub format: Format,
    /// Most bytes of the archive itself.
    pub max_bytes: u64,
    /// Most entries.
    pub max_entries: u64,
}

/// A packed archive.
#[derive(Debug)]
pub struct Archived<'g> {
    /// Its bytes.
    pub content: Spool<'g>,
    /// Entries packed.
    pub entries: u64,
    /// Entries left out: refused by the rules, links, and what is neither a file nor a directory.
    pub skipped: u64,
}

/// One format.
trait Packer {
    /// What a member is called in this format.
    fn name(&self, name: &[u8]) -> Vec<u8> {
        name.to_vec()
    }
    fn directory(&mut self, name: &[u8], stat: &Stat) -> Result<(), FilesError>;
    fn file(&mut self, name: &[u8], stat: &Stat, content: &mut dyn Read) -> Result<(), FilesError>;
    fn finish(self: Box<Self>) -> Result<(), FilesError>;
}

/// Packs `paths` into one archive. A path below the base directory is named from there, another by its last name. What
/// several paths reach is packed once; of different entries with one name the first is packed.
///
/// # Errors
///
/// A refusal or not found for a path that was asked for, [`FilesError::ArchiveTooLarge`] as soon as a cap is passed.
pub fn archive<'g>(
    access: Access<'g>,
    paths: &[NormalPath],
    options: ArchiveOptions,
) -> Result<Archived<'g>, FilesError> {
    for path in paths {
        access.guard.judge(access.judge, path.as_bytes(), Op::Read).map_err(GuardError::from)?;
    }
    let mut content = Spool::new(access.guard);
    let failure = Cell::new(None);
    let capped =
        Capped { spool: &mut content, limit: options.max_bytes, stop: access.stop, failure: &failure };
    let mut packer: Box<dyn Packer + '_> = match options.format {
        Format::TarGz => Box::new(tar::TarGz::new(capped)),
        Format::Zip => Box::new(zip::Zip::new(capped)),
    };
    let limit = options.max_entries;
    let packed = HashMap::new();
    let mut run =
        Run { access, packer: &mut *packer, failure: &failure, limit, packed, entries: 0, skipped: 0 };
    if let Err(error) = paths.iter().try_for_each(|path| run.path(path)) {
        let error = failure.get().unwrap_or(error);
        // Told before the packer is dropped and writes its tail.
        failure.set(Some(error));
        return Err(error);
    }
    let Run { entries, skipped, .. } = run;
    let finished = packer.finish();
    match failure.get() {
        Some(error) => Err(error),
        None => finished.map(|()| Archived { content, entries, skipped }),
    }
}

struct Run<'a, 'p> {
    access: Access<'a>,
    packer: &'p mut dyn Packer,
    /// Why nothing more can be written.
    failure: &'p Cell<Option<FilesError>>,
    limit: u64,
    /// What stands in the archive, and the path that it came from.
    packed: HashMap<Vec<u8>, Vec<u8>>,
    entries: u64,
    skipped: u64,
}

impl Run<'_, '_> {
    /// Packs one path that was asked for.
    fn path(&mut self, path: &NormalPath) -> Result<(), FilesError> {
        let Access { guard, judge, .. } = self.access;
        let name = member_name(guard, path.as_bytes());
        match guard.file(judge, path, Op::Read) {
            Ok(Opened { fd, stat, path }) => self.file(&name, path, &fd, &stat),
            Err(GuardError::NotARegularFile) => match guard.tree(judge, path, Op::Read) {
                Ok(top) => self.tree(&name, &top),
                Err(GuardError::NotADirectory) => Err(GuardError::NotARegularFile.into()),
                Err(error) => Err(FilesError::from_guard(error)),
            },
            Err(error) => Err(FilesError::from_guard(error)),
        }
    }

    /// Packs a directory and everything below it, each directory in order of names.
    fn tree(&mut self, name: &[u8], top: &Dir) -> Result<(), FilesError> {
        let mut buffer = ListingBuffer::default();
        let mut walk = Descent::new(top, self.enter(name.to_vec(), top, &mut buffer)?);
        loop {
            self.access.stop.check()?;
            let (dir, here) = walk.here();
            let Some((entry, kind)) = here.left.pop() else {
                if walk.leave()?.is_none() {
                    return Ok(());
                }
                continue;
            };
            let path = [dir.path(), b"/", &entry].concat();
            let member = if here.name.is_empty() {
                entry.clone()
            } else {
                [&here.name, b"/".as_slice(), &entry].concat()
            };
            if self.access.guard.judge(self.access.judge, &path, Op::Read).is_err() {
                self.skipped += 1;
                continue;
            }
            match kind {
                Kind::Directory => match dir.open_dir(&entry) {
                    Ok(next) => {
                        let packing = self.enter(member, &next, &mut buffer)?;
                        walk.enter(entry, next, packing);
                    }
                    Err(_) => self.skipped += 1,
                },
                Kind::File => match dir.open_file(&entry) {
                    Ok((fd, stat)) => self.file(&member, path, &fd, &stat)?,
                    Err(_) => self.skipped += 1,
                },
                Kind::Symlink | Kind::Special => self.skipped += 1,
            }
        }
    }

    fn enter(&mut self, name: Vec<u8>, dir: &Dir, buffer: &mut ListingBuffer) -> Result<Packing, FilesError> {
        if !name.is_empty() && self.is_new(&name, dir.path().to_vec()) {
            self.count()?;
            self.packer.directory(&name, &rustix::fs::fstat(dir.fd())?)?;
        }
        let mut left = Vec::new();
        dir.read(buffer, |Listed { name, kind, sealed }| {
            if sealed {
                self.skipped += 1;
                return ControlFlow::Continue(());
            }
            let kind = kind.or_else(|| dir.stat(name).ok().as_ref().map(crate::guard::kind_of));
            left.extend(kind.map(|kind| (name.to_vec(), kind)));
            ControlFlow::Continue(())
        })?;
        // Taken from the end.
        left.sort_unstable_by(|one, other| other.0.cmp(&one.0));
        Ok(Packing { name, left })
    }

    fn file(&mut self, name: &[u8], path: Vec<u8>, fd: &OwnedFd, stat: &Stat) -> Result<(), FilesError> {
        if !self.is_new(name, path) {
            return Ok(());
        }
        self.count()?;
        let left = u64::try_from(stat.st_size).unwrap_or_default();
        let mut content = Exact { fd, left, stop: self.access.stop, failure: self.failure };
        self.packer.file(name, stat, &mut content)?;
        self.failure.get().map_or(Ok(()), Err)
    }

    /// Whether nothing of this name was packed yet. Another entry with the name of one that was is left out.
    fn is_new(&mut self, name: &[u8], path: Vec<u8>) -> bool {
        match self.packed.entry(self.packer.name(name)) {
            Entry::Vacant(free) => {
                free.insert(path);
                true
            }
            Entry::Occupied(taken) => {
                self.skipped += u64::from(*taken.get() != path);
                false
            }
        }
    }

    fn count(&mut self) -> Result<(), FilesError> {
        self.failure.get().map_or(Ok(()), Err)?;
        self.entries += 1;
        if self.entries > self.limit {
            return Err(FilesError::ArchiveTooLarge { limit: self.limit, unit: "entries" });
        }
        Ok(())
    }
}

/// A directory being packed: what it is called in the archive, and what is left of it.
struct Packing {
    name: Vec<u8>,
    left: Vec<(Vec<u8>, Kind)>,
}

/// What a path is called in the archive: below the base directory its relative path, elsewhere its last name.
fn member_name(guard: &Guard, path: &[u8]) -> Vec<u8> {
    let relative = path.strip_prefix(guard.base_dir()).and_then(|rest| match rest {
        [] => Some(rest),
        [b'/', rest @ ..] => Some(rest),
        _ => None,
    });
    relative.unwrap_or_else(|| path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()).to_vec()
}
