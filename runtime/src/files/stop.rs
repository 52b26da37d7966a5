//! When long work has to end: its time is up, or its caller is gone.

use super::FilesError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Asked between steps of long work. Clones share the cancellation.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    deadline: Option<Instant>,
    cancelled: Arc<AtomicBool>,
}

impl Stop {
    /// Work that may go on until `deadline`; `None` for ever.
    #[must_use]
    pub fn at(deadline: Option<Instant>) -> Self {
        Self { deadline, cancelled: Arc::default() }
    }

    /// The moment after which it ends.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Ends the work at its next step.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// A guard that cancels when it is dropped: an async caller holds it over its wait.
    #[must_use]
    pub fn on_drop(&self) -> CancelOnDrop {
        CancelOnDrop(self.clone())
    }

    /// # Errors
    ///
    /// [`FilesError::Cancelled`] or [`FilesError::TimedOut`].
    pub fn check(&self) -> Result<(), FilesError> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(FilesError::Cancelled);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(FilesError::TimedOut),
            _ => Ok(()),
        }
    }
}

/// See [`Stop::on_drop`].
#[derive(Debug)]
pub struct CancelOnDrop(Stop);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
