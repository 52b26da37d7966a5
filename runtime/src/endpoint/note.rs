//! What the pipeline could not see of a call, for the audit line: a path inside a streamed body, what a socket carried,
//! which command it was.

use crate::audit::Fact;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Shared by a call, its body and its audit line.
#[derive(Debug, Clone, Default)]
pub struct Note(Option<Arc<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    path: OnceLock<String>,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    facts: Mutex<Vec<(&'static str, Fact)>>,
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

    /// Says something about the call; never a secret, never content.
    pub fn fact(&self, name: &'static str, value: impl Into<Fact>) {
        if let Some(noted) = &self.0 {
            noted.facts.lock().unwrap_or_else(PoisonError::into_inner).push((name, value.into()));
        }
    }

    /// Counts bytes that a socket carried: from the client, and to it.
    pub fn carried(&self, from: u64, to: u64) {
        if let Some(noted) = &self.0 {
            noted.bytes_in.fetch_add(from, Ordering::Relaxed);
            noted.bytes_out.fetch_add(to, Ordering::Relaxed);
        }
    }

    pub(crate) fn take_facts(&self) -> Vec<(&'static str, Fact)> {
        let taken = |noted: &Arc<Noted>| {
            std::mem::take(&mut *noted.facts.lock().unwrap_or_else(PoisonError::into_inner))
        };
        self.0.as_ref().map(taken).unwrap_or_default()
    }

    pub(crate) fn bytes_out(&self) -> u64 {
        self.0.as_ref().map_or(0, |noted| noted.bytes_out.load(Ordering::Relaxed))
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
