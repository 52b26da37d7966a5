//! The log as a file: appended whole lines at a time, mode 0600, followed when it is renamed or removed.

use rustix::fs::{FileType, Mode, OFlags};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Why the log cannot be opened or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The machine says no.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is a directory, a socket or a device.
    #[error("it is neither a regular file nor a pipe")]
    Kind,
}

/// The open log.
#[derive(Debug)]
pub(super) struct FileLog {
    path: PathBuf,
    file: File,
    /// Device and inode, to see that the name has come to mean another file.
    identity: (u64, u64),
    /// Whether a line was cut: the next one begins on a line of its own.
    torn: bool,
}

impl FileLog {
    pub(super) fn open(path: &Path) -> Result<Self, FileError> {
        // A pipe whose reader is stuck must refuse, not block.
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::CLOEXEC
            | OFlags::NONBLOCK
            | OFlags::NOCTTY;
        let fd = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).map_err(io::Error::from)?;
        let stat = rustix::fs::fstat(&fd).map_err(io::Error::from)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                rustix::fs::fchmod(&fd, Mode::RUSR | Mode::WUSR).map_err(io::Error::from)?
            }
            FileType::Fifo => {}
            _ => return Err(FileError::Kind),
        }
        Ok(Self {
            path: path.to_owned(),
            file: File::from(fd),
            identity: (stat.st_dev, stat.st_ino),
            torn: false,
        })
    }

    /// Opens the name anew where it no longer means the open file.
    fn follow(&mut self) -> Result<(), FileError> {
        let same = rustix::fs::stat(&self.path).is_ok_and(|stat| (stat.st_dev, stat.st_ino) == self.identity);
        if !same {
            *self = Self::open(&self.path)?;
        }
        Ok(())
    }

    fn write(&mut self, lines: &[u8]) -> Result<(), FileError> {
        self.follow()?;
        if self.torn {
            self.whole(b"\n")?;
            self.torn = false;
        }
        self.whole(lines)
    }

    /// One write; where it was short, the rest, and where that fails the line is cut.
    fn whole(&mut self, mut lines: &[u8]) -> Result<(), FileError> {
        let mut begun = false;
        while !lines.is_empty() {
            match self.file.write(lines) {
                Ok(0) => return Err(self.cut(begun, io::ErrorKind::WriteZero.into())),
                Ok(written) => lines = lines.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.cut(begun, error)),
            }
            begun = true;
        }
        Ok(())
    }

    fn cut(&mut self, begun: bool, error: io::Error) -> FileError {
        self.torn |= begun;
        FileError::Io(error)
    }
}

impl AsFd for FileLog {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Appends whole lines.
pub(super) fn append(log: &Mutex<FileLog>, lines: &[u8]) -> Result<(), FileError> {
    log.lock().unwrap_or_else(PoisonError::into_inner).write(lines)
}
