//! The audit log: one JSON line a decision.
//!
//! To stderr, the default, lines pass through a bounded queue that never blocks a request and says how many it dropped.
//! To a file, what changes something is in the file before it happens and before it is answered; other lines are queued.
//! Equal refusals in a flood are summarised, with exact counts.

mod entry;
mod file;
mod flood;
mod queue;

pub use entry::{Entry, Event, Fact};
pub use file::FileError;

use crate::guard::Seals;
use file::FileLog;
use queue::Queue;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Where decisions are written.
#[derive(Debug)]
pub struct Audit {
    queue: Arc<Queue>,
    file: Option<(PathBuf, Arc<Mutex<FileLog>>)>,
}

/// The log cannot be written now.
#[derive(Debug, thiserror::Error)]
#[error("the audit log cannot be written")]
pub struct Unavailable;

impl Audit {
    /// Writes to stderr.
    ///
    /// # Errors
    /// Where the thread that writes cannot be started.
    pub fn to_stderr() -> std::io::Result<Self> {
        let queue = Queue::start(queue::Sink::Stderr)?;
        Ok(Self { queue, file: None })
    }

    /// Writes to a file, which is made with mode 0600 where it does not exist, and sealed whatever it has come to be called.
    ///
    /// # Errors
    /// Where it cannot be opened for appending, or is neither a file nor a pipe.
    pub fn to_file(path: &Path, seals: Arc<Seals>) -> Result<Self, FileError> {
        let log = Arc::new(Mutex::new(FileLog::open(path, seals)?));
        let queue = Queue::start(queue::Sink::File(Arc::clone(&log))).map_err(FileError::Io)?;
        Ok(Self { queue, file: Some((path.to_owned(), log)) })
    }

    /// The file, where it is one: no endpoint may reach it.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.file.as_ref().map(|(path, _)| path.as_path())
    }

    /// Writes a line soon. Never blocks.
    pub fn write(&self, entry: &Entry<'_>) {
        self.queue.push(entry);
    }

    /// Writes a line before it returns, where the log is a file.
    ///
    /// # Errors
    /// Where it cannot: the caller must not go on.
    pub fn write_now(&self, entry: &Entry<'_>) -> Result<(), Unavailable> {
        match &self.file {
            None => self.queue.push(entry),
            Some((_, log)) => file::append(log, entry.line().as_bytes()).map_err(|_| Unavailable)?,
        }
        Ok(())
    }

    /// Writes what is queued; gives up after `patience`.
    pub fn flush(&self, patience: Duration) {
        self.queue.close(patience);
    }
}
