//! What goes into an archive and what comes out of it, each within its bound.

use crate::files::{FilesError, Spool, Stop};
use rustix::fd::OwnedFd;
use std::cell::Cell;
use std::io::{Read, Write};

/// Exactly as many bytes as a header promised: a file that grew is cut, one that shrank is filled up with zeros.
pub(super) struct Exact<'a> {
    pub(super) fd: &'a OwnedFd,
    pub(super) left: u64,
    pub(super) stop: &'a Stop,
    pub(super) failure: &'a Cell<Option<FilesError>>,
}

impl Read for Exact<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.stop.check().map_err(std::io::Error::other)?;
        self.failure.get().map_or(Ok(()), Err).map_err(std::io::Error::other)?;
        let want = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let Some(room) = buffer.get_mut(..want).filter(|room| !room.is_empty()) else { return Ok(0) };
        let read = match rustix::io::read(self.fd, &mut *room)? {
            0 => {
                room.fill(0);
                want
            }
            read => read,
        };
        self.left -= read as u64;
        Ok(read)
    }
}

/// A spool that refuses to grow past its cap.
pub(super) struct Capped<'s, 'g> {
    pub(super) spool: &'s mut Spool<'g>,
    pub(super) limit: u64,
    pub(super) stop: &'g Stop,
    pub(super) failure: &'s Cell<Option<FilesError>>,
}

impl Capped<'_, '_> {
    fn write_all_of(&mut self, bytes: &[u8]) -> Result<(), FilesError> {
        self.stop.check()?;
        if self.spool.size() + bytes.len() as u64 > self.limit {
            return Err(FilesError::ArchiveTooLarge { limit: self.limit, unit: "bytes" });
        }
        Ok(self.spool.write_all(bytes)?)
    }
}

impl Write for Capped<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // Archive writers write their tail when they are dropped, and complain to stderr where anything went wrong. So
        // they never learn of a failure: whoever feeds them does, and stops.
        if self.failure.get().is_none()
            && let Err(error) = self.write_all_of(bytes)
        {
            self.failure.set(Some(error));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
