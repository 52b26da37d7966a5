//! A streamed answer whose time is up. Its body ends by itself when it is asked for more; of a client that takes nothing it
//! is asked for nothing, and only the end of the connection frees what the call holds.

use crate::http::Cut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;
use tokio::time::{sleep, sleep_until};

/// How long nothing may be asked for, once the time is up. Longer than the pause between two heartbeats: a stream that is
/// silent, and whose client takes them, ends by itself.
const PATIENCE: Duration = Duration::from_secs(20);

/// Watches one answer until it is dropped.
#[derive(Debug)]
pub(super) struct Overdue {
    asked: Arc<AtomicU64>,
    watch: AbortHandle,
}

impl Overdue {
    /// Ends the connection when nothing was asked of the body for twenty seconds after `deadline`.
    pub(super) fn watch(deadline: Instant, connection: Cut) -> Self {
        let asked = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&asked);
        let watch = tokio::spawn(async move {
            sleep_until(deadline.into()).await;
            loop {
                let before = seen.load(Ordering::Relaxed);
                sleep(PATIENCE).await;
                if seen.load(Ordering::Relaxed) == before {
                    return connection.now();
                }
            }
        });
        Self { asked, watch: watch.abort_handle() }
    }

    /// The body was asked for more.
    pub(super) fn progress(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Overdue {
    fn drop(&mut self) {
        self.watch.abort();
    }
}
