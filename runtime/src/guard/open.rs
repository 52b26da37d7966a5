//! Opening what a request names.

use super::foreign::check_device;
use super::kind::{Kind, kind_of, ruled_out};
use super::path::below;
use super::root::Guard;
use super::verdict::{Op, PathJudge};
use super::{GuardError, NormalPath};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{OFlags, Stat};
use rustix::io::Errno;

/// How often an access that links keep changing under is resolved anew before it is refused.
pub(super) const ROUNDS: usize = 16;

/// What a link at the end of a path stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Last {
    /// For what it names.
    Follow,
    /// For itself.
    Itself,
}

/// An open handle and what it refers to.
#[derive(Debug)]
pub struct Opened {
    /// The handle; close-on-exec.
    pub fd: OwnedFd,
    /// What the handle refers to, asked of the handle.
    pub stat: Stat,
    /// The absolute path with links resolved, as its root is spelled.
    pub path: Vec<u8>,
}

impl Opened {
    /// What kind of thing it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        kind_of(&self.stat)
    }

    /// Its size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        u64::try_from(self.stat.st_size).unwrap_or_default()
    }
}

impl Guard {
    /// Opens a regular file for reading.
    ///
    /// # Errors
    ///
    /// A refusal, [`GuardError::NotFound`], [`GuardError::NotARegularFile`] or the system's error.
    pub fn file(&self, judge: &dyn PathJudge, path: &NormalPath, op: Op) -> Result<Opened, GuardError> {
        // NONBLOCK: a FIFO without a writer must not hang the open; it is then refused by its type.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let opened = self.entry_with(judge, path, op, Last::Follow, flags)?;
        match ruled_out(Kind::File, opened.kind()) {
            Some(error) => Err(error),
            None if path.asks_directory() => Err(GuardError::NotFound),
            None => Ok(opened),
        }
    }

    /// Opens a directory, for reading its names and for working beneath it.
    ///
    /// # Errors
    ///
    /// A refusal, [`GuardError::NotFound`], [`GuardError::NotADirectory`] or the system's error.
    pub fn directory(&self, judge: &dyn PathJudge, path: &NormalPath, op: Op) -> Result<Opened, GuardError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        match self.entry_with(judge, path, op, Last::Follow, flags) {
            // A socket does not even open.
            Err(GuardError::NotARegularFile) => Err(GuardError::NotADirectory),
            opened => {
                let opened = opened?;
                ruled_out(Kind::Directory, opened.kind()).map_or(Ok(opened), Err)
            }
        }
    }

    /// Opens whatever lies at a path as a handle that only names it: for metadata, or as a working directory. A path
    /// that asks for a directory is followed to one.
    ///
    /// # Errors
    ///
    /// A refusal, [`GuardError::NotFound`] or the system's error.
    pub fn entry(
        &self,
        judge: &dyn PathJudge,
        path: &NormalPath,
        op: Op,
        last: Last,
    ) -> Result<Opened, GuardError> {
        if !path.asks_directory() {
            return self.entry_with(judge, path, op, last, OFlags::PATH);
        }
        let opened = self.entry_with(judge, path, op, Last::Follow, OFlags::PATH)?;
        ruled_out(Kind::Directory, opened.kind()).map_or(Ok(opened), Err)
    }

    fn entry_with(
        &self,
        judge: &dyn PathJudge,
        path: &NormalPath,
        op: Op,
        last: Last,
        flags: OFlags,
    ) -> Result<Opened, GuardError> {
        self.judge(judge, path.as_bytes(), op)?;
        let (root, _) = self.root_of(path.as_bytes()).ok_or(GuardError::OUTSIDE)?;
        if let Some(opened) = self.try_open(root, path.as_bytes(), flags, false)?
            && (opened.kind() != Kind::Symlink || last == Last::Itself)
        {
            return Ok(opened);
        }
        for _ in 0..ROUNDS {
            let resolved = self.resolve(judge, path, op, last)?;
            if let Some(opened) = self.try_open(resolved.root, &resolved.path, flags, true)?
                && (opened.kind() != Kind::Symlink || last == Last::Itself)
            {
                return Ok(opened);
            }
        }
        // Something keeps turning parts of this path into links: nothing was opened that was not judged.
        Err(GuardError::OUTSIDE)
    }

    /// Opens a path that should hold no link; `None` where it may hold one after all.
    ///
    /// Unless it is `resolved`, one that does not exist is looked at part by part too: it may lead through a kernel
    /// file system, and whether something exists there is not to be told.
    fn try_open(
        &self,
        root: usize,
        path: &[u8],
        flags: OFlags,
        resolved: bool,
    ) -> Result<Option<Opened>, GuardError> {
        let Some((held, relative)) = self.root(root).and_then(|held| Some((held, below(&held.path, path)?)))
        else {
            return Ok(None);
        };
        let fd = match self.reach(held, relative, flags)? {
            Err(Errno::LOOP | Errno::NOTDIR) => return Ok(None),
            Err(Errno::NOENT) if !resolved => return Ok(None),
            opened => opened.map_err(GuardError::from_open)?,
        };
        let stat = rustix::fs::fstat(&fd).map_err(GuardError::Io)?;
        self.check_sealed(&stat)?;
        check_device(self.device_of(root), stat.st_dev, fd.as_fd())?;
        Ok(Some(Opened { fd, stat, path: path.to_vec() }))
    }
}
