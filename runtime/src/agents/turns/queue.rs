//! The order of a session's turns: one in flight, the rest waiting.

use std::collections::VecDeque;

/// Turns of one session that have not ended, by id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Queue {
    waiting: VecDeque<String>,
    in_flight: Option<String>,
    paused: bool,
}

/// Why a turn does not wait in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueFull;

/// Why an order was not taken: it must name every waiting turn once, and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotTheQueue;

impl Queue {
    /// A queue of turns that waited already.
    #[must_use]
    pub fn of(waiting: impl IntoIterator<Item = String>, paused: bool) -> Self {
        Self { waiting: waiting.into_iter().collect(), in_flight: None, paused }
    }

    /// Waiting turns, the next first.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = &str> {
        self.waiting.iter().map(String::as_str)
    }

    /// The turn whose prompt is open.
    #[must_use]
    pub fn in_flight(&self) -> Option<&str> {
        self.in_flight.as_deref()
    }

    /// Whether nothing is in flight and nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.in_flight.is_none()
    }

    /// Whether waiting turns are held back.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Holds waiting turns back, or lets them go on. What is in flight is not touched.
    pub fn pause(&mut self, paused: bool) {
        self.paused = paused;
    }

    /// Puts a turn at the end, among at most `most` waiting ones.
    ///
    /// # Errors
    /// The queue is full.
    pub fn push(&mut self, turn: String, most: usize) -> Result<(), QueueFull> {
        if self.waiting.len() >= most {
            return Err(QueueFull);
        }
        self.waiting.push_back(turn);
        Ok(())
    }

    /// Puts a turn before all that wait, whatever the bound: it has been promised already.
    pub fn push_front(&mut self, turn: String) {
        self.waiting.push_front(turn);
    }

    /// The next turn, now in flight; none while one is, while the queue is paused or where nothing waits.
    pub fn start(&mut self) -> Option<&str> {
        if self.in_flight.is_some() || self.paused {
            return None;
        }
        self.in_flight = Some(self.waiting.pop_front()?);
        self.in_flight()
    }

    /// Whether [`Queue::start`] would start one.
    #[must_use]
    pub fn can_start(&self) -> bool {
        self.in_flight.is_none() && !self.paused && !self.waiting.is_empty()
    }

    /// Where a waiting turn stands, from 1.
    #[must_use]
    pub fn position(&self, turn: &str) -> Option<usize> {
        self.waiting.iter().position(|waiting| waiting == turn).map(|at| at + 1)
    }

    /// The turn in flight has ended; whether it was this one.
    pub fn finish(&mut self, turn: &str) -> bool {
        let ended = self.in_flight.as_deref() == Some(turn);
        if ended {
            self.in_flight = None;
        }
        ended
    }

    /// Drops a waiting turn; whether it waited.
    pub fn remove(&mut self, turn: &str) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|waiting| waiting != turn);
        self.waiting.len() < before
    }

    /// Drops every waiting turn and says which they were.
    pub fn clear(&mut self) -> Vec<String> {
        self.waiting.drain(..).collect()
    }

    /// Puts the waiting turns into this order.
    ///
    /// # Errors
    /// It does not name exactly the waiting turns; the queue is as it was.
    pub fn reorder(&mut self, order: &[String]) -> Result<(), NotTheQueue> {
        let (mut wanted, mut waiting): (Vec<_>, Vec<_>) =
            (order.iter().collect(), self.waiting.iter().collect());
        wanted.sort_unstable();
        waiting.sort_unstable();
        if wanted != waiting {
            return Err(NotTheQueue);
        }
        self.waiting = order.iter().cloned().collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
