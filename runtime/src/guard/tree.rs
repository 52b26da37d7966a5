//! A directory held open, and what lies in it: how tree operations go down without ever following a link.

use super::foreign::check_device;
use super::kind::{Kind, kind_of, ruled_out};
use super::root::Guard;
use super::verdict::{Op, PathJudge};
use super::{GuardError, NormalPath, Opened, Place, Resolver};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, OFlags, RawDir, SeekFrom, Stat};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::ops::ControlFlow;

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
    path: Vec<u8>,
}

impl Dir {
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
        let dev = rustix::fs::fstat(&fd).map_err(GuardError::Io)?.st_dev;
        let path = super::path::split_last(&place.path).map_or(b"/".as_slice(), |(dir, _)| dir).to_vec();
        Ok(Self { fd, dev, path })
    }

    /// Calls `each` with every name, `.` and `..` left out, and the kind where the file system tells it with the name.
    ///
    /// # Errors
    ///
    /// The system's error; names seen before it were handed out.
    pub fn read(
        &self,
        buffer: &mut ListingBuffer,
        mut each: impl FnMut(&[u8], Option<Kind>) -> ControlFlow<()>,
    ) -> Result<(), Errno> {
        rustix::fs::seek(&self.fd, SeekFrom::Start(0))?;
        let mut names = RawDir::new(&self.fd, &mut buffer.0);
        while let Some(entry) = names.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => None,
                known => Some(known.into()),
            };
            if each(name, kind).is_break() {
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
    /// [`GuardError::NotADirectory`] for a link and anything else, a refusal on a kernel file system.
    pub fn open_dir(&self, name: &[u8]) -> Result<Self, GuardError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        let fd = match Resolver::Walk.open(self.fd(), name, flags) {
            Err(Errno::NOTDIR | Errno::LOOP) => return Err(GuardError::NotADirectory),
            opened => opened.map_err(GuardError::from_open)?,
        };
        let dev = rustix::fs::fstat(&fd).map_err(GuardError::Io)?.st_dev;
        check_device(self.dev, dev, &fd)?;
        Ok(Self { fd, dev, path: super::path::join(&self.path, name) })
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
    /// [`GuardError::NotARegularFile`] for a link and anything else, a refusal on a kernel file system.
    pub fn open_file(&self, name: &[u8]) -> Result<(OwnedFd, Stat), GuardError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let fd = match Resolver::Walk.open(self.fd(), name, flags) {
            Err(Errno::LOOP) => return Err(GuardError::NotARegularFile),
            opened => opened.map_err(GuardError::from_open)?,
        };
        let stat = rustix::fs::fstat(&fd).map_err(GuardError::Io)?;
        if let Some(error) = ruled_out(Kind::File, kind_of(&stat)) {
            return Err(error);
        }
        check_device(self.dev, stat.st_dev, &fd)?;
        Ok((fd, stat))
    }
}

impl TryFrom<Opened> for Dir {
    type Error = GuardError;

    fn try_from(opened: Opened) -> Result<Self, GuardError> {
        match ruled_out(Kind::Directory, opened.kind()) {
            Some(error) => Err(error),
            None => Ok(Self { fd: opened.fd, dev: opened.stat.st_dev, path: opened.path }),
        }
    }
}

impl Guard {
    /// Opens a directory as the top of a tree.
    ///
    /// # Errors
    ///
    /// As [`Guard::directory`].
    pub fn tree(&self, judge: &dyn PathJudge, path: &NormalPath, op: Op) -> Result<Dir, GuardError> {
        self.directory(judge, path, op)?.try_into()
    }
}
