//! Calls a minute, by the generic cell rate algorithm on the monotonic clock: setting the wall clock changes nothing.

use governor::clock::{Clock, MonotonicClock};
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use std::num::NonZeroU32;

/// A rate that is being counted. A minute's worth may come at once.
#[derive(Debug)]
pub struct Rate<C: Clock = MonotonicClock> {
    limiter: RateLimiter<NotKeyed, InMemoryState, C, NoOpMiddleware<C::Instant>>,
    clock: C,
}

impl Rate {
    /// So many a minute; at least one, at most what fits 32 bits.
    #[must_use]
    pub fn per_minute(calls: u64) -> Self {
        Self::with_clock(calls, MonotonicClock)
    }
}

impl<C: Clock + Clone> Rate<C> {
    fn with_clock(calls: u64, clock: C) -> Self {
        let calls = u32::try_from(calls).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MAX);
        Self { limiter: RateLimiter::direct_with_clock(Quota::per_minute(calls), clock.clone()), clock }
    }
}

impl<C: Clock> Rate<C> {
    /// Counts a call.
    ///
    /// # Errors
    /// How long to wait where it is one too many; at least a second, in whole seconds.
    pub fn check(&self) -> Result<(), u64> {
        self.limiter.check().map_err(|early| {
            let wait = early.wait_time_from(self.clock.now());
            let whole = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            whole.max(1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Rate;
    use governor::clock::FakeRelativeClock;
    use std::time::Duration;

    #[test]
    fn sixty_a_minute_are_sixty() {
        let clock = FakeRelativeClock::default();
        let rate = Rate::with_clock(60, clock.clone());
        let outcomes: Vec<_> = (0..200).map(|_| rate.check()).collect();
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 60);
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == Err(1)).count(), 140);
        clock.advance(Duration::from_secs(1));
        assert_eq!(rate.check(), Ok(()));
        assert_eq!(rate.check(), Err(1));
    }

    #[test]
    fn one_a_minute_says_a_minute() {
        let clock = FakeRelativeClock::default();
        let rate = Rate::with_clock(1, clock.clone());
        assert_eq!(rate.check(), Ok(()));
        clock.advance(Duration::from_millis(500));
        assert_eq!(rate.check(), Err(60));
    }
}
