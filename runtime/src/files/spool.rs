//! Bytes that wait: in memory while they are few, beyond that in a file without a name.

use super::FilesError;
use crate::guard::Guard;
use rustix::fs::SeekFrom;
use std::fs::File;
use std::io::{Read, Seek as _, Write};

/// What is kept in memory; more goes to the file.
const IN_MEMORY: usize = 1 << 20;

/// Bytes written first and read afterwards. They vanish with the spool, whatever happens to the process.
#[derive(Debug)]
pub struct Spool<'g> {
    guard: &'g Guard,
    memory: Vec<u8>,
    file: Option<File>,
    size: u64,
}

impl<'g> Spool<'g> {
    /// An empty spool. A file, if one is needed, has its room where the base directory is.
    #[must_use]
    pub fn new(guard: &'g Guard) -> Self {
        Self { guard, memory: Vec::new(), file: None, size: 0 }
    }

    /// Bytes written.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Ends the writing.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn into_reader(mut self) -> Result<SpoolReader, FilesError> {
        if let Some(mut file) = self.file.take() {
            file.write_all(&self.memory)?;
            file.rewind()?;
            return Ok(SpoolReader {
                memory: std::io::Cursor::new(Vec::new()),
                file: Some(file),
                size: self.size,
            });
        }
        Ok(SpoolReader { memory: std::io::Cursor::new(self.memory), file: None, size: self.size })
    }
}

impl Write for Spool<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.memory.len() + bytes.len() > IN_MEMORY {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(File::from(self.guard.nameless_file()?)),
            };
            file.write_all(&self.memory)?;
            self.memory.clear();
            if bytes.len() >= IN_MEMORY {
                file.write_all(bytes)?;
                self.size += bytes.len() as u64;
                return Ok(bytes.len());
            }
        }
        self.memory.extend_from_slice(bytes);
        self.size += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The bytes of a spool, from the start.
#[derive(Debug)]
pub struct SpoolReader {
    memory: std::io::Cursor<Vec<u8>>,
    file: Option<File>,
    size: u64,
}

impl SpoolReader {
    /// Bytes in all.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }
}

impl Read for SpoolReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match &mut self.file {
            Some(file) => file.read(buffer),
            None => self.memory.read(buffer),
        }
    }
}

/// Kept for callers that start over.
impl SpoolReader {
    /// Back to the start.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn rewind(&mut self) -> Result<(), FilesError> {
        self.memory.set_position(0);
        if let Some(file) = &self.file {
            rustix::fs::seek(file, SeekFrom::Start(0))?;
        }
        Ok(())
    }
}
