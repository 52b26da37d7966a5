//! What is told while an install goes on.

use crate::agents::credentials::Masks;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::mpsc;

/// Something that has happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Step {
    /// It has begun.
    Started {
        /// `npm`, `pypi` or `archive`.
        source: &'static str,
        /// What is installed.
        version: String,
    },
    /// A tool said a line.
    Log {
        /// `stdout` or `stderr`.
        stream: &'static str,
        /// The line.
        data: String,
    },
    /// So much has been fetched.
    Progress {
        /// So far.
        bytes: u64,
        /// Of so many, where that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<u64>,
    },
    /// It is there.
    Done {
        /// What was installed.
        version: String,
        /// The program.
        command: String,
        /// How long it took.
        ms: u64,
        /// What it takes on disk.
        bytes: u64,
    },
    /// It came to nothing.
    Error {
        /// What kind of failure.
        code: &'static str,
        /// In words.
        error: String,
    },
}

impl Step {
    /// The name of its event.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Started { .. } => "started",
            Self::Log { .. } => "log",
            Self::Progress { .. } => "progress",
            Self::Done { .. } => "done",
            Self::Error { .. } => "error",
        }
    }
}

/// Where steps are told. Whoever listens may go away; the install goes on.
#[derive(Debug)]
pub struct Report {
    steps: mpsc::UnboundedSender<Step>,
    masks: Arc<Masks>,
    /// Bytes of lines that may still be told.
    room: AtomicU64,
}

impl Report {
    /// A report that tells up to `room` bytes of lines, and where it is heard.
    #[must_use]
    pub fn new(masks: Arc<Masks>, room: u64) -> (Self, mpsc::UnboundedReceiver<Step>) {
        let (steps, heard) = mpsc::unbounded_channel();
        (Self { steps, masks, room: AtomicU64::new(room) }, heard)
    }

    /// Tells a step.
    pub fn step(&self, step: Step) {
        let _ = self.steps.send(step);
    }

    /// Tells a line of a tool, as long as there is room.
    pub(super) fn line(&self, stream: &'static str, line: &str) {
        let data = self.masks.mask(line.trim_end());
        let length = data.len() as u64;
        let took =
            self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(length));
        if took.is_ok() && !data.is_empty() {
            self.step(Step::Log { stream, data: data.into_owned() });
        }
    }
}
