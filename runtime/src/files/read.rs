//! Reading a file for a download.

use super::{Access, FilesError};
use crate::guard::{GuardError, NormalPath, Op, Opened, identity};
use rustix::fd::OwnedFd;
use std::io::Read;

/// A file opened for a download. Its length is what it was when it was opened: one that grows is cut there, one that
/// shrinks ends in an error, so that a length announced is a length sent.
#[derive(Debug)]
pub struct Download {
    /// The absolute path, links resolved.
    pub path: Vec<u8>,
    /// Bytes.
    pub size: u64,
    /// Modification time, seconds since 1970 and nanoseconds.
    pub modified: (i64, u64),
    /// Device, inode: with size and time they tell one version of a file from another.
    pub identity: (u64, u64),
    /// How many names the file has.
    pub links: u64,
    file: OwnedFd,
}

/// Opens a file for a download.
///
/// # Errors
///
/// A refusal, not found, not a regular file, larger than `limit`, or the system's error.
pub fn open(access: Access<'_>, path: &NormalPath, limit: Option<u64>) -> Result<Download, FilesError> {
    let opened = match access.guard.file(access.judge, path, Op::Read) {
        Err(GuardError::NotADirectory) => Err(GuardError::NotFound),
        other => other,
    };
    let opened = opened.map_err(FilesError::from_guard)?;
    let size = opened.size();
    if let Some(limit) = limit.filter(|limit| size > *limit) {
        return Err(FilesError::FileTooLarge { limit });
    }
    let Opened { fd, stat, path } = opened;
    Ok(Download {
        path,
        size,
        modified: (stat.st_mtime, stat.st_mtime_nsec),
        identity: identity(&stat),
        #[expect(clippy::useless_conversion, reason = "the width of a link count differs between targets")]
        links: u64::from(stat.st_nlink),
        file: fd,
    })
}

impl Download {
    /// Goes to a place in the file, for a range.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn seek(&mut self, offset: u64) -> Result<(), FilesError> {
        rustix::fs::seek(&self.file, rustix::fs::SeekFrom::Start(offset))?;
        Ok(())
    }

    /// Fills `buffer`, short only at the end of the file.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, FilesError> {
        let mut filled = 0;
        while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
            match rustix::io::read(&self.file, room) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(filled)
    }
}

impl Read for Download {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        Ok(rustix::io::read(&self.file, buffer)?)
    }
}
