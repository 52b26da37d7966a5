//! Frames on their way out, and how much of them waits.

use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;

/// Frames on their way out.
#[derive(Debug)]
pub struct Outbox {
    pub(super) frames: mpsc::UnboundedReceiver<Bytes>,
    pub(super) queued: Arc<AtomicUsize>,
}

impl Outbox {
    /// The next frame, a line with its end; none when the peer is gone.
    pub async fn next(&mut self) -> Option<Bytes> {
        let frame = self.frames.recv().await?;
        self.queued.fetch_sub(frame.len(), Ordering::Relaxed);
        Some(frame)
    }
}
