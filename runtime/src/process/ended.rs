//! What is left of a process that was waited for: how it ended, and what it printed.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::exit::Exit;
use super::job::{EndOnDrop, Job};
use super::ring::{Log, Stream};

/// A process that has ended.
#[derive(Debug)]
pub struct Ended {
    /// How.
    pub exit: Exit,
    /// Its standard output.
    pub stdout: Printed,
    /// Its standard error.
    pub stderr: Printed,
    /// How long it ran.
    pub time: Duration,
}

/// What a process printed on one stream.
#[derive(Debug)]
pub struct Printed {
    /// The bytes, from the first one kept.
    pub bytes: Vec<u8>,
    /// Whether there was more than is kept.
    pub truncated: bool,
}

impl Printed {
    fn of(log: &Log, stream: Stream) -> Self {
        Self { bytes: log.slice(stream, 0, usize::MAX).1, truncated: log.truncated(stream) }
    }

    /// As text; what is no UTF-8 is replaced.
    #[must_use]
    pub fn into_text(self) -> String {
        String::from_utf8(self.bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// The last `most` bytes as text.
    #[must_use]
    pub fn tail(&self, most: usize) -> Cow<'_, str> {
        let from = self.bytes.len().saturating_sub(most);
        String::from_utf8_lossy(self.bytes.get(from..).unwrap_or_default())
    }
}

impl Job {
    /// Waits for the end of a process that was started for one caller. Whoever drops the future ends it.
    pub async fn to_end(self: Arc<Self>) -> Ended {
        let _end = EndOnDrop(Arc::clone(&self));
        let exit = self.ended().await;
        let time = self.started.elapsed();
        let log = self.log();
        let [stdout, stderr] = [Stream::Stdout, Stream::Stderr].map(|stream| Printed::of(&log, stream));
        drop(log);
        Ended { exit, stdout, stderr, time }
    }
}
