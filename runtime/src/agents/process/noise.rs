//! What an agent prints that is no message, as its sessions are told of it: line by line while it is little, in sums where
//! it is a flood. The lines themselves are in the log of the process.

use crate::agents::acp::Noise;
use crate::agents::cut;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// Lines that are told one by one,
const AT_ONCE: usize = 16;

/// and how long it takes until there may be another.
const EVERY: Duration = Duration::from_secs(10);

/// Bytes of a line that are told.
const TEXT: usize = 1024;

/// What is to be told of one process, and how much of it yet.
#[derive(Debug)]
pub(super) struct Quota {
    left: usize,
    since: Instant,
    ready: VecDeque<Noise>,
    /// What came when nothing was left.
    sum: Option<Noise>,
}

impl Default for Quota {
    fn default() -> Self {
        Self { left: AT_ONCE, since: Instant::now(), ready: VecDeque::new(), sum: None }
    }
}

impl Quota {
    /// A line of so many bytes; `text` is what is kept of it, which may not be the `whole` of it.
    pub(super) fn push(&mut self, text: &str, bytes: u64, whole: bool) {
        self.renew();
        if let Some(sum) = &mut self.sum {
            sum.lines += 1;
            sum.bytes += bytes;
            sum.truncated = true;
            return;
        }
        let shown = cut::head(text, TEXT);
        let truncated = !whole || shown.len() < text.len();
        let line = Noise { text: shown.to_owned(), lines: 1, bytes, truncated };
        if self.left > 0 && self.ready.len() < AT_ONCE {
            self.spend(line);
        } else {
            self.sum = Some(line);
        }
    }

    /// What may be told now, in order.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Noise> {
        self.renew();
        self.ready.drain(..)
    }

    /// Everything that has not been told: nothing more comes.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = Noise> {
        self.ready.drain(..).chain(self.sum.take())
    }

    /// When a sum may be told, where there is one.
    pub(super) fn due(&self) -> Option<Instant> {
        self.sum.as_ref().map(|_| self.since + EVERY)
    }

    fn renew(&mut self) {
        let now = Instant::now();
        while self.left < AT_ONCE && now.duration_since(self.since) >= EVERY {
            self.left += 1;
            self.since += EVERY;
        }
        if self.left == AT_ONCE {
            // Time counts only while something is spent.
            self.since = now;
        }
        if self.left > 0
            && self.ready.len() < AT_ONCE
            && let Some(sum) = self.sum.take()
        {
            self.spend(sum);
        }
    }

    fn spend(&mut self, noise: Noise) {
        self.left -= 1;
        self.ready.push_back(noise);
    }
}

#[cfg(test)]
mod tests {
    use super::{AT_ONCE, EVERY, Noise, Quota, TEXT};

    fn line(text: &str) -> Noise {
        Noise { text: text.to_owned(), lines: 1, bytes: text.len() as u64, truncated: false }
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_told_in_sums_and_nothing_of_it_is_uncounted() {
        let mut quota = Quota::default();
        for n in 0..1000 {
            quota.push(&format!("line {n}"), 10, true);
        }
        let told: Vec<Noise> = quota.take().collect();
        assert_eq!(told.len(), AT_ONCE);
        assert!(told.iter().all(|noise| noise.lines == 1 && noise.bytes == 10));
        assert_eq!(quota.due(), Some(quota.since + EVERY));
        tokio::time::advance(EVERY).await;
        let sum = Noise { text: "line 16".to_owned(), lines: 984, bytes: 9840, truncated: true };
        assert_eq!(quota.take().collect::<Vec<_>>(), [sum]);
        assert_eq!(quota.due(), None);
        // Nothing was left again.
        quota.push("late", 4, true);
        quota.push("later", 5, true);
        assert_eq!(quota.take().count(), 0);
        let rest = Noise { text: "late".to_owned(), lines: 2, bytes: 9, truncated: true };
        assert_eq!(quota.finish().collect::<Vec<_>>(), [rest]);
        // After a silence it is as at first.
        tokio::time::advance(EVERY * 1000).await;
        quota.push("quiet", 5, true);
        assert_eq!(quota.take().collect::<Vec<_>>(), [line("quiet")]);
        assert_eq!(quota.left, AT_ONCE - 1);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_to_tell_costs_no_memory() {
        let mut quota = Quota::default();
        for n in 0..1000 {
            quota.push(&n.to_string(), 3, true);
            tokio::time::advance(EVERY).await;
        }
        let told: Vec<Noise> = quota.finish().collect();
        assert_eq!(told.len(), AT_ONCE + 1);
        assert_eq!(told.iter().map(|noise| noise.lines).sum::<u64>(), 1000);
    }

    #[tokio::test]
    async fn long_lines_are_cut_between_characters() {
        let mut quota = Quota::default();
        let long = "ü".repeat(TEXT);
        quota.push(&format!("x{long}"), 2049, true);
        quota.push("a line of 70000000 bytes was skipped", 70_000_000, false);
        let told: Vec<(usize, u64, bool)> =
            quota.take().map(|noise| (noise.text.len(), noise.bytes, noise.truncated)).collect();
        assert_eq!(told, [(TEXT - 1, 2049, true), (36, 70_000_000, true)]);
    }
}
