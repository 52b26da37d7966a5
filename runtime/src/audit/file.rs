//! The log as a file: appended whole lines at a time, mode 0600, followed when it is renamed or removed.
//!
//! The directory that it lies in is held open: whoever renames one of those above it neither stops the log nor leads it to a file
//! of his own.

use crate::guard::{Identity, Seals, identity};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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

impl From<Errno> for FileError {
    fn from(errno: Errno) -> Self {
        Self::Io(errno.into())
    }
}

/// Lines that could not be written, and how many bytes before them were.
#[derive(Debug)]
pub(super) struct Unwritten {
    #[expect(dead_code, reason = "shown by whoever debugs")]
    pub(super) error: FileError,
    pub(super) kept: usize,
}

/// The open log.
#[derive(Debug)]
pub(super) struct FileLog {
    path: PathBuf,
    /// The directory that it lies in.
    folder: Arc<OwnedFd>,
    file: File,
    /// To see that the name has come to mean another file.
    identity: Identity,
    /// Where it is sealed.
    seals: Arc<Seals>,
    /// Whether the end of the file is a line that was cut: the next one begins on a line of its own.
    torn: bool,
}

/// The kernel looks for a kill only between pages, so a line that stays within one is there whole or not at all. One
/// that does not fit the rest of a page is moved to the next by blanks before it, which JSON allows.
const PAGE: usize = 4096;

impl FileLog {
    pub(super) fn open(path: &Path, seals: Arc<Seals>) -> Result<Self, FileError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = rustix::fs::openat(CWD, folder.unwrap_or(Path::new(".")), flags, Mode::empty());
        Self::open_in(Arc::new(folder?), path, seals)
    }

    fn open_in(folder: Arc<OwnedFd>, path: &Path, seals: Arc<Seals>) -> Result<Self, FileError> {
        let name = name_of(path)?;
        // A pipe whose reader is stuck must refuse, not block.
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::CLOEXEC
            | OFlags::NONBLOCK
            | OFlags::NOCTTY;
        let (file, identity, kind) = seals.seal_log(&folder, || {
            let fd = rustix::fs::openat(&*folder, name, flags, Mode::RUSR | Mode::WUSR)?;
            let stat = rustix::fs::fstat(&fd)?;
            let kind = FileType::from_raw_mode(stat.st_mode);
            match kind {
                FileType::RegularFile => rustix::fs::fchmod(&fd, Mode::RUSR | Mode::WUSR)?,
                FileType::Fifo => {}
                _ => return Err(FileError::Kind),
            }
            let identity = identity(&stat);
            Ok(((File::from(fd), identity, kind), identity))
        })?;
        // A log that may be written but not read is no worse for it.
        let torn = kind == FileType::RegularFile && ends_within_a_line(&folder, name).unwrap_or(false);
        Ok(Self { path: path.to_owned(), folder, file, identity, seals, torn })
    }

    /// Opens the name anew where it no longer means the open file.
    fn follow(&mut self) -> Result<(), FileError> {
        let found = rustix::fs::statat(&*self.folder, name_of(&self.path)?, AtFlags::empty());
        if !found.is_ok_and(|stat| identity(&stat) == self.identity) {
            let opened = Self::open_in(Arc::clone(&self.folder), &self.path, Arc::clone(&self.seals));
            *self = match opened {
                // Nothing is made in a directory that was removed: another may have taken its place.
                Err(FileError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                    Self::open(&self.path, Arc::clone(&self.seals))?
                }
                opened => opened?,
            };
        }
        Ok(())
    }

    /// Writes whole lines; says how many bytes of them are in the file, always up to the end of a line.
    fn write(&mut self, lines: &[u8]) -> Result<(), Unwritten> {
        self.follow().map_err(|error| Unwritten { error, kept: 0 })?;
        let mut kept = 0;
        if self.torn {
            self.whole(b"\n").map_err(|error| Unwritten { error, kept })?;
            self.torn = false;
        }
        while let Some(rest) = lines.get(kept..).filter(|rest| !rest.is_empty()) {
            let room = PAGE - usize::try_from(self.length() % PAGE as u64).unwrap_or(0);
            let fitting = memchr::memrchr(b'\n', rest.get(..room).unwrap_or(rest));
            let end = fitting.or_else(|| memchr::memchr(b'\n', rest)).map_or(rest.len(), |at| at + 1);
            let piece = rest.get(..end).unwrap_or(rest);
            let written = match end > room && end <= PAGE {
                true => self.whole(&[[b' '; PAGE].get(..room).unwrap_or_default(), piece].concat()),
                false => self.whole(piece),
            };
            written.map_err(|error| Unwritten { error, kept })?;
            kept += piece.len();
        }
        Ok(())
    }

    /// Bytes in the file; none in a pipe.
    fn length(&self) -> u64 {
        rustix::fs::fstat(&self.file).map_or(0, |stat| stat.st_size.unsigned_abs())
    }

    /// All of it or nothing: what was written of a piece that cannot be finished is taken back.
    fn whole(&mut self, piece: &[u8]) -> Result<(), FileError> {
        let mut rest = piece;
        while !rest.is_empty() {
            let error = match self.file.write(rest) {
                Ok(0) => io::ErrorKind::WriteZero.into(),
                Ok(written) => {
                    rest = rest.get(written..).unwrap_or_default();
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            let begun = piece.len() - rest.len();
            self.torn |= begun > 0 && !self.take_back(begun);
            return Err(FileError::Io(error));
        }
        Ok(())
    }

    /// Cuts the last `bytes` off. A pipe has sent them already.
    fn take_back(&self, bytes: usize) -> bool {
        self.length()
            .checked_sub(bytes as u64)
            .is_some_and(|before| rustix::fs::ftruncate(&self.file, before).is_ok())
    }
}

/// What the log is called where it lies.
fn name_of(path: &Path) -> Result<&OsStr, FileError> {
    path.file_name().ok_or(FileError::Kind)
}

/// Whether a server that was killed left a piece of a line at the end.
fn ends_within_a_line(folder: &OwnedFd, name: &OsStr) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut file = File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?);
    let mut end = Vec::with_capacity(PAGE);
    file.seek(io::SeekFrom::Start(file.metadata()?.len().saturating_sub(PAGE as u64)))?;
    file.take(PAGE as u64).read_to_end(&mut end)?;
    let behind = memchr::memrchr(b'\n', &end).map_or(0, |at| at + 1);
    Ok(end.get(behind..).is_some_and(|piece| !piece.trim_ascii().is_empty()))
}

/// Appends whole lines.
pub(super) fn append(log: &Mutex<FileLog>, lines: &[u8]) -> Result<(), Unwritten> {
    log.lock().unwrap_or_else(PoisonError::into_inner).write(lines)
}

#[cfg(test)]
mod tests {
    use super::{FileLog, PAGE, Seals};
    use std::fs;
    use std::sync::Arc;

    #[test]
    fn a_piece_of_a_line_stays_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, "whole\ncut of").unwrap();
        FileLog::open(&path, Arc::default()).unwrap().write(b"next\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole\ncut of\nnext\n");
        FileLog::open(&path, Arc::default()).unwrap().write(b"more\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole\ncut of\nnext\nmore\n");
    }

    #[test]
    fn lines_of_every_length_arrive_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut log = FileLog::open(&path, Arc::default()).unwrap();
        let lines: String = (0..600).map(|length| format!("{}\n", "x".repeat(length * 37 % 9001))).collect();
        log.write(lines.as_bytes()).unwrap();
        let mut at = 0;
        for (found, line) in
            fs::read_to_string(&path).unwrap().split_inclusive('\n').zip(lines.split_inclusive('\n'))
        {
            assert_eq!(found.trim_start_matches(' '), line);
            let (first, last) = (at + found.len() - line.len(), at + found.len() - 1);
            assert!(
                line.len() > PAGE || first / PAGE == last / PAGE,
                "a line of {} bytes at {first}",
                line.len()
            );
            at += found.len();
        }
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 600);
    }

    #[test]
    fn blanks_at_the_end_are_room_for_the_next_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, "whole\n   ").unwrap();
        FileLog::open(&path, Arc::default()).unwrap().write(b"next\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole\n   next\n");
    }

    #[test]
    fn the_log_goes_on_where_its_directory_was_renamed_and_begins_anew_where_it_was_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, moved) = (dir.path().join("folder"), dir.path().join("moved"));
        fs::create_dir(&folder).unwrap();
        let mut log = FileLog::open(&folder.join("log"), Arc::default()).unwrap();
        log.write(b"one\n").unwrap();
        fs::rename(&folder, &moved).unwrap();
        log.write(b"two\n").unwrap();
        fs::create_dir(&folder).unwrap();
        log.write(b"three\n").unwrap();
        assert_eq!(fs::read_to_string(moved.join("log")).unwrap(), "one\ntwo\nthree\n");
        assert!(!folder.join("log").exists());
        fs::rename(moved.join("log"), moved.join("log.1")).unwrap();
        log.write(b"four\n").unwrap();
        assert_eq!(fs::read_to_string(moved.join("log")).unwrap(), "four\n");
        fs::remove_dir_all(&moved).unwrap();
        log.write(b"five\n").unwrap();
        assert_eq!(fs::read_to_string(folder.join("log")).unwrap(), "five\n");
    }

    #[test]
    fn the_open_file_is_sealed_whatever_it_is_called() {
        let dir = tempfile::tempdir().unwrap();
        let (path, old) = (dir.path().join("log"), dir.path().join("old"));
        let seals = Arc::<Seals>::default();
        let mut log = FileLog::open(&path, Arc::clone(&seals)).unwrap();
        let sealed = |path| seals.check(&rustix::fs::stat(path).unwrap()).is_err();
        fs::rename(&path, &old).unwrap();
        assert!(sealed(&old));
        log.write(b"line\n").unwrap();
        assert!(sealed(&path) && !sealed(&old));
        // What cannot be followed stays sealed.
        fs::rename(&path, &old).unwrap();
        fs::create_dir(&path).unwrap();
        log.write(b"line\n").unwrap_err();
        assert!(sealed(&old) && !sealed(&path));
    }
}
