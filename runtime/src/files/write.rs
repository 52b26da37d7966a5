//! Writing a file so that it is there whole or not at all, and is still there after a power cut.
//!
//! Content goes to a new file in the target's own directory, under a name nobody can guess; it is synced, takes over
//! the owner and mode of what it replaces, is renamed into place, and the directory is synced. Only then is it said
//! to be written. Until the rename the old file is untouched; a writer that is dropped before it removes its file.

use super::claim::claim;
use super::{Access, FilesError};
use crate::guard::{Guard, GuardError, Kind, Last, NormalPath, Op, Place, give_file};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

/// A step of a writer, in order. A seam is told before each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// The temporary file is made.
    Create,
    /// Content is written.
    Write,
    /// The content is synced.
    SyncFile,
    /// Owner and mode are taken over.
    Mode,
    /// The file takes its name.
    Rename,
    /// The directory is synced.
    SyncDirectory,
}

/// Where a test can make a writer fail, or see how far it came.
pub trait Seam: Send + Sync {
    /// Before `step`.
    ///
    /// # Errors
    ///
    /// What the step is to fail with.
    fn before(&self, step: Step) -> Result<(), Errno>;
}

/// The seam of a running server: nothing.
#[derive(Debug, Clone, Copy)]
pub struct NoSeam;

impl Seam for NoSeam {
    fn before(&self, _: Step) -> Result<(), Errno> {
        Ok(())
    }
}

/// How to write.
#[derive(Clone, Copy)]
pub struct WriteOptions<'a> {
    /// Whether an existing file is replaced.
    pub overwrite: bool,
    /// Most bytes.
    pub limit: Option<u64>,
    /// A seam for tests.
    pub seam: &'a dyn Seam,
}

impl std::fmt::Debug for WriteOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteOptions")
            .field("overwrite", &self.overwrite)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl Default for WriteOptions<'_> {
    fn default() -> Self {
        Self { overwrite: true, limit: None, seam: &NoSeam }
    }
}

/// A file being written.
pub struct Writer<'a> {
    place: Place,
    file: OwnedFd,
    temporary: Option<String>,
    guard: &'a Guard,
    written: u64,
    options: WriteOptions<'a>,
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("place", &self.place)
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The absolute path, links resolved.
    pub path: Vec<u8>,
    /// Bytes.
    pub bytes: u64,
}

impl<'a> Writer<'a> {
    /// Begins a file. Missing parents are made.
    ///
    /// # Errors
    ///
    /// A refusal, [`FilesError::AlreadyExists`], [`GuardError::NotARegularFile`] where something else lies there, no
    /// space, or the system's error.
    pub fn begin(
        access: Access<'a>,
        path: &NormalPath,
        options: WriteOptions<'a>,
    ) -> Result<Self, FilesError> {
        // A file that must not exist yet is not looked for behind a link either.
        let last = if options.overwrite { Last::Follow } else { Last::Itself };
        let place = match access.guard.place(access.judge, path, Op::Write, last, true) {
            Err(GuardError::IsRoot) => return Err(GuardError::NotARegularFile.into()),
            place => place.map_err(FilesError::from_guard)?,
        };
        if path.asks_directory() {
            return Err(GuardError::NotARegularFile.into());
        }
        check_replaced(place.existing.as_ref(), options.overwrite)?;
        options.seam.before(Step::Create)?;
        let (file, temporary) = create_temporary(&place)?;
        Ok(Self { place, file, temporary: Some(temporary), guard: access.guard, written: 0, options })
    }

    /// The absolute path that is written, links resolved.
    #[must_use]
    pub fn path(&self) -> &[u8] {
        &self.place.path
    }

    /// Adds content.
    ///
    /// # Errors
    ///
    /// [`FilesError::FileTooLarge`], no space, or the system's error.
    pub fn write(&mut self, content: &[u8]) -> Result<(), FilesError> {
        self.written += content.len() as u64;
        if let Some(limit) = self.options.limit.filter(|limit| self.written > *limit) {
            return Err(FilesError::FileTooLarge { limit });
        }
        self.options.seam.before(Step::Write)?;
        let mut rest = content;
        while !rest.is_empty() {
            match rustix::io::write(&self.file, rest) {
                Ok(wrote) => rest = rest.get(wrote..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Changes whether an existing file is replaced; a body may say so behind its content.
    pub fn set_overwrite(&mut self, overwrite: bool) {
        self.options.overwrite = overwrite;
    }

    /// Puts the file in place. When this returns it survives a power cut.
    ///
    /// # Errors
    ///
    /// [`FilesError::AlreadyExists`] where the name was taken meanwhile, or the system's error. A sync that fails is
    /// an error and is not tried again: the system may have dropped the content that it could not write.
    pub fn finish(mut self) -> Result<Written, FilesError> {
        let WriteOptions { overwrite, seam, .. } = self.options;
        if !overwrite && self.place.followed {
            return Err(FilesError::AlreadyExists);
        }
        seam.before(Step::SyncFile)?;
        self.guard.sync(&self.file)?;
        seam.before(Step::Mode)?;
        self.take_over_mode()?;
        seam.before(Step::Rename)?;
        self.rename(overwrite)?;
        seam.before(Step::SyncDirectory)?;
        self.guard.sync(&self.place.dir)?;
        Ok(Written { path: std::mem::take(&mut self.place.path), bytes: self.written })
    }

    fn take_over_mode(&self) -> Result<(), FilesError> {
        let Some(old) = &self.place.existing else {
            give_file(&self.place.dir, &self.file);
            return Ok(rustix::fs::fchmod(&self.file, self.guard.file_mode())?);
        };
        // Without the right to give a file away it stays ours, as with any editor that replaces a file.
        let _ =
            rustix::fs::fchown(&self.file, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)));
        // Set-id bits do not survive a change of content, as when it is written in place.
        Ok(rustix::fs::fchmod(&self.file, Mode::from_bits_truncate(old.st_mode & 0o777))?)
    }

    fn rename(&mut self, overwrite: bool) -> Result<(), FilesError> {
        let Some(temporary) = self.temporary.as_deref() else { return Ok(()) };
        let (dir, name) = (&self.place.dir, self.place.name.as_slice());
        let renamed = if overwrite {
            rustix::fs::renameat(dir, temporary, dir, name)
        } else {
            claim((dir, temporary.as_bytes()), (dir, name))
        };
        match renamed {
            Ok(()) => {
                self.temporary = None;
                Ok(())
            }
            Err(Errno::EXIST) => Err(FilesError::AlreadyExists),
            // A directory took the name meanwhile.
            Err(Errno::ISDIR | Errno::NOTEMPTY) => Err(GuardError::NotARegularFile.into()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = rustix::fs::unlinkat(&self.place.dir, temporary.as_str(), AtFlags::empty());
        }
    }
}

/// What may be replaced: a regular file, or a link to be taken for what it names.
fn check_replaced(existing: Option<&Stat>, overwrite: bool) -> Result<(), FilesError> {
    match existing.map(crate::guard::kind_of) {
        None => Ok(()),
        Some(Kind::File | Kind::Symlink) if overwrite => Ok(()),
        Some(Kind::File | Kind::Symlink) => Err(FilesError::AlreadyExists),
        Some(Kind::Directory | Kind::Special) => Err(GuardError::NotARegularFile.into()),
    }
}

/// A file that did not exist before, 122 random bits in its name, for nobody else to read.
fn create_temporary(place: &Place) -> Result<(OwnedFd, String), FilesError> {
    let name = format!(".upload-{}.part", uuid::Uuid::new_v4().simple());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&place.dir, name.as_str(), flags, Mode::RUSR | Mode::WUSR)?;
    Ok((file, name))
}
