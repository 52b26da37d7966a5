//! What the pipeline could not see of a call, for the audit line: a path inside a streamed body, and how much was read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Shared by a call, its body and its audit line.
#[derive(Debug, Clone, Default)]
pub struct Note(Option<Arc<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    path: OnceLock<String>,
    bytes_in: AtomicU64,
}

impl Note {
    /// A note that can be written later; a default one forgets everything.
    pub(crate) fn open() -> Self {
        Self(Some(Arc::default()))
    }

    /// Says what path the call touches; the first word stands.
    pub fn touches(&self, path: impl Into<String>) {
        if let Some(noted) = &self.0 {
            // A second word is no fault.
            let _ = noted.path.set(path.into());
        }
    }

    pub(crate) fn received(&self, bytes: u64) {
        if let Some(noted) = &self.0 {
            noted.bytes_in.store(bytes, Ordering::Relaxed);
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        self.0.as_ref()?.path.get().map(String::as_str)
    }

    pub(crate) fn bytes_in(&self) -> u64 {
        self.0.as_ref().map_or(0, |noted| noted.bytes_in.load(Ordering::Relaxed))
    }
}
