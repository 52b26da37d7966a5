//! A directory held open, and what lies in it: how tree operations go down without ever following a link.

use super::foreign::check_device;
use super::kind::{Kind, kind_of, ruled_out};
use super::root::Guard;
use super::verdict::{Op, PathJudge};
use super::{GuardError, NormalPath, Opened, Place, Resolver, Seals};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, OFlags, RawDir, SeekFrom, Stat};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Room for the names of one system call; a directory of a thousand files takes one or two.
const LISTING_BYTES: usize = 32 * 1024;

/// Room for directory listings, to be used again.
#[derive(Debug)]
pub struct ListingBuffer(Vec<MaybeUninit<u8>>);

impl Default for ListingBuffer {
    fn default() -> Self {
        Self(vec![MaybeUninit::uninit(); LISTING_BYTES])
    }
}

/// A directory of a tree.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    dev: u64,
    inode: u64,
    path: Vec<u8>,
    seals: Arc<Seals>,
}

/// A name in a directory.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'n> {
    /// The name.
    pub name: &'n [u8],
    /// What it is, where the file system tells it with the name.
    pub kind: Option<Kind>,
    /// Whether it is the name of something sealed, which nobody is to be told of.
    pub sealed: bool,
}

impl Dir {
    fn new(fd: OwnedFd, stat: &Stat, path: Vec<u8>, seals: &Arc<Seals>) -> Result<Self, GuardError> {
        seals.check(stat)?;
        Ok(Self { fd, dev: stat.st_dev, inode: stat.st_ino, path, seals: Arc::clone(seals) })
    }

    /// Its absolute path, links resolved.
    #[must_use]
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// Its handle.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The directory that lies at a place.
    ///
    /// # Errors
    ///
    /// As [`Dir::open_dir`].
    pub fn at(place: &Place) -> Result<Self, GuardError> {
        Self::above(place)?.open_dir(&place.name)
    }

    /// The directory that holds a place.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn above(place: &Place) -> Result<Self, GuardError> {
        let fd = place.dir.try_clone().map_err(|_| GuardError::Io(Errno::MFILE))?;
        let path = super::path::split_last(&place.path).map_or(b"/".as_slice(), |(dir, _)| dir).to_vec();
        let stat = rustix::fs::fstat(&fd).map_err(GuardError::Io)?;
        Self::new(fd, &stat, path, &place.seals)
    }

    /// Calls `each` with every name, `.` and `..` left out.
    ///
    /// What is sealed is known by the inode that comes with the name, and only then looked at; where that of `.` shows that
    /// these numbers are not those of the files, every name is looked at.
    ///
    /// # Errors
    ///
    /// The system's error; names seen before it were handed out.
    pub fn read(
        &self,
        buffer: &mut ListingBuffer,
        mut each: impl FnMut(Listed<'_>) -> ControlFlow<()>,
    ) -> Result<(), Errno> {
        rustix::fs::seek(&self.fd, SeekFrom::Start(0))?;
        let known = self.seals.known();
        let mut suspect = false;
        let mut names = RawDir::new(&self.fd, &mut buffer.0);
        while let Some(entry) = names.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                suspect |= name == b"." && known.any() && entry.ino() != self.inode;
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => None,
                known => Some(known.into()),
            };
            let sealed = (suspect || known.may_seal(entry.ino()))
                && self.stat(name).is_ok_and(|stat| self.seals.check(&stat).is_err());
            if each(Listed { name, kind, sealed }).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// What lies under a name, without following a link.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn stat(&self, name: &[u8]) -> Result<Stat, Errno> {
        rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Opens a directory in this one.
    ///
    /// # Errors
    ///
    /// [`GuardError::NotADirectory`] for a link and anything else, a refusal on a kernel file system and of what is sealed.
    pub fn open_dir(&self, name: &[u8]) -> Result<Self, GuardError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        let fd = match Resolver::Walk.open(self.fd(), name, flags) {
            Err(Errno::NOTDIR | Errno::LOOP) => return Err(GuardError::NotADirectory),
            opened => opened.map_err(GuardError::from_open)?,
        };
        let stat = rustix::fs::fstat(&fd).map_err(GuardError::Io)?;
        check_device(self.dev, stat.st_dev, &fd)?;
        Self::new(fd, &stat, super::path::join(&self.path, name), &self.seals)
    }

    /// Opens the directory that lies below this one under `names`, one after the other; `None` where there are none.
    ///
    /// # Errors
    ///
    /// As [`Dir::open_dir`].
    pub fn descend<'n>(&self, names: impl IntoIterator<Item = &'n [u8]>) -> Result<Option<Self>, GuardError> {
        let mut here = None;
        for name in names {
            here = Some(here.as_ref().unwrap_or(self).open_dir(name)?);
        }
        Ok(here)
    }

    /// Opens a regular file in this directory for reading.
    ///
    /// # Errors
    ///
    /// [`GuardError::NotARegularFile`] for a link and anything else, a refusal on a kernel file system and of what is sealed.
    pub fn open_file(&self, name: &[u8]) -> Result<(OwnedFd, Stat), GuardError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let fd = match Resolver::Walk.open(self.fd(), name, flags) {
            Err(Errno::LOOP) => return Err(GuardError::NotARegularFile),
            opened => opened.map_err(GuardError::from_open)?,
        };
        let stat = rustix::fs::fstat(&fd).map_err(GuardError::Io)?;
        self.seals.check(&stat)?;
        if let Some(error) = ruled_out(Kind::File, kind_of(&stat)) {
            return Err(error);
        }
        check_device(self.dev, stat.st_dev, &fd)?;
        Ok((fd, stat))
    }
}

impl Guard {
    /// Opens a directory as the top of a tree.
    ///
    /// # Errors
    ///
    /// As [`Guard::directory`].
    pub fn tree(&self, judge: &dyn PathJudge, path: &NormalPath, op: Op) -> Result<Dir, GuardError> {
        let Opened { fd, stat, path } = self.directory(judge, path, op)?;
        Dir::new(fd, &stat, path, self.seals())
    }
}
