//! Whether a client is still there: it is asked now and then, and any word of it is an answer.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::Close;

/// How often a client is asked.
const EVERY: Duration = Duration::from_secs(15);

/// How long it may stay silent. Seen when the next question is due, so at most a minute passes.
const PATIENCE: Duration = Duration::from_secs(45);

/// How a socket ends whose client is silent.
pub(crate) const SILENT: Close = (1001, "no answer to pings");

/// When the client was last heard. Shared by both directions of a socket.
#[derive(Debug)]
pub(crate) struct Pulse(Mutex<Instant>);

/// When the client is to be asked next.
#[derive(Debug)]
pub(crate) struct Beat(Interval);

impl Pulse {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Instant::now()))
    }

    /// The client has said something.
    pub(crate) fn hears(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// The clock of the side that asks.
    pub(crate) fn beat() -> Beat {
        let mut clock = interval_at(Instant::now() + EVERY, EVERY);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Beat(clock)
    }

    /// Waits until the client is to be asked.
    ///
    /// # Errors
    /// It has not answered for too long: how the socket ends. Waiting may be given up and begun again.
    pub(crate) async fn due(&self, beat: &mut Beat) -> Result<(), Close> {
        beat.0.tick().await;
        let silence = self.0.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
        if silence >= PATIENCE { Err(SILENT) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // security 181
    #[tokio::test(start_paused = true)]
    async fn silence_is_noticed_within_a_minute_and_any_word_breaks_it() {
        let (pulse, mut beat, begun) = (Pulse::new(), Pulse::beat(), Instant::now());
        for second in [15, 30] {
            assert_eq!(pulse.due(&mut beat).await, Ok(()));
            assert_eq!(begun.elapsed().as_secs(), second);
        }
        pulse.hears();
        for _ in 0..2 {
            assert_eq!(pulse.due(&mut beat).await, Ok(()));
        }
        assert_eq!(pulse.due(&mut beat).await, Err(SILENT));
        assert_eq!(begun.elapsed().as_secs(), 75);
    }
}
