//! How long an answer is waited for: by the silence of the other side, by the clock, or without end.

use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Bounds of a wait. The default has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wait {
    /// Longest time in which the other side says nothing at all.
    pub silence: Option<Duration>,
    /// Longest time altogether.
    pub total: Option<Duration>,
}

impl Wait {
    /// Until the answer comes or the other side ends.
    pub const FOREVER: Self = Self { silence: None, total: None };

    /// At most this long.
    #[must_use]
    pub const fn total(total: Duration) -> Self {
        Self { silence: None, total: Some(total) }
    }

    /// As long as the other side is never silent for this long.
    #[must_use]
    pub const fn silence(silence: Duration) -> Self {
        Self { silence: Some(silence), total: None }
    }

    /// Returns when a bound is passed. `heard`: when the other side last said anything.
    pub(super) async fn over(self, mut heard: watch::Receiver<Instant>) {
        let begun = Instant::now();
        let end = self.total.and_then(|total| begun.checked_add(total));
        loop {
            let last = begun.max(*heard.borrow_and_update());
            let quiet = self.silence.and_then(|silence| last.checked_add(silence));
            let Some(until) = end.into_iter().chain(quiet).min() else { return std::future::pending().await };
            // Looked at again when the time is up: a message a moment before moves the bound.
            tokio::time::sleep_until(until).await;
            let last = begun.max(*heard.borrow());
            let still = self.silence.and_then(|silence| last.checked_add(silence));
            if end.is_some_and(|end| end <= until) || still == quiet {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Wait;
    use std::time::Duration;
    use tokio::sync::watch;
    use tokio::time::{Instant, sleep};

    #[tokio::test(start_paused = true)]
    async fn silence_is_counted_from_the_last_word() {
        let begun = Instant::now();
        let (say, heard) = watch::channel(begun);
        let wait = Wait { silence: Some(Duration::from_secs(10)), total: Some(Duration::from_secs(60)) };
        let talk = async {
            for _ in 0..3 {
                sleep(Duration::from_secs(8)).await;
                say.send_replace(Instant::now());
            }
            std::future::pending::<()>().await;
        };
        tokio::select! { () = wait.over(heard) => {}, () = talk => {} }
        assert_eq!(begun.elapsed().as_secs(), 34);
    }

    #[tokio::test(start_paused = true)]
    async fn the_total_holds_for_one_who_never_stops_talking() {
        let begun = Instant::now();
        let (say, heard) = watch::channel(begun);
        let wait = Wait { silence: Some(Duration::from_secs(10)), total: Some(Duration::from_secs(60)) };
        let talk = async {
            loop {
                sleep(Duration::from_secs(1)).await;
                say.send_replace(Instant::now());
            }
        };
        tokio::select! { () = wait.over(heard) => {}, () = talk => {} }
        assert_eq!(begun.elapsed().as_secs(), 60);
    }
}
