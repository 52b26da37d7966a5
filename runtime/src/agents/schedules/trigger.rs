//! When a schedule fires. Pure: the time comes from the caller.
//!
//! A cron line is read in its time zone. Where clocks go forward, a slot of a fixed time that does not exist that day is
//! the first moment that does; where they go back, a fixed time that comes twice is one slot, the first. Lines that fire every
//! so often (`*/5 * * * *`) keep their pace through both.

use croner::Cron;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde_json::{Value, json};
use std::str::FromStr as _;

/// Longest interval, in seconds: ten years.
const LONGEST: i64 = 10 * 366 * 86_400;

/// When.
#[derive(Debug, Clone)]
pub enum Trigger {
    /// A cron line of five fields, or six with seconds first.
    Cron(Box<Cron>, String),
    /// Every so many seconds from a beginning.
    Every(i64),
    /// Once, at this second.
    At(i64),
}

/// Why there is no trigger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TriggerError {
    /// None or several of the three were given.
    #[error("give one of cron, every_seconds and at")]
    One,
    /// The cron line cannot be read.
    #[error("cron is no cron line")]
    Cron,
    /// The interval is no whole number of seconds, or too long.
    #[error("every_seconds must be a whole number between 1 and {LONGEST}")]
    Every,
    /// The time is none.
    #[error("at must be a time in epoch seconds")]
    At,
}

impl Trigger {
    /// Reads `cron`, `every_seconds` or `at`, of which there must be one.
    ///
    /// # Errors
    /// See [`TriggerError`].
    pub fn read(
        cron: Option<&Value>,
        every: Option<&Value>,
        at: Option<&Value>,
    ) -> Result<Self, TriggerError> {
        match (cron, every, at) {
            (Some(cron), None, None) => {
                let text = cron.as_str().ok_or(TriggerError::Cron)?;
                let cron = Cron::from_str(text).map_err(|_| TriggerError::Cron)?;
                Ok(Self::Cron(Box::new(cron), text.to_owned()))
            }
            (None, Some(every), None) => {
                let whole = every.as_f64().filter(|every| every.fract() == 0.0);
                let every = whole.and_then(seconds).filter(|every| (1..=LONGEST).contains(every));
                every.map(Self::Every).ok_or(TriggerError::Every)
            }
            (None, None, Some(at)) => {
                let at = at.as_f64().and_then(seconds).filter(|at| *at >= 0);
                at.map(Self::At).ok_or(TriggerError::At)
            }
            _ => Err(TriggerError::One),
        }
    }

    /// Reads what [`Self::view`] wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let stored: Value = serde_json::from_str(text).ok()?;
        Self::read(stored.get("cron"), stored.get("every_seconds"), stored.get("at")).ok()
    }

    /// As callers see it, and as it is stored.
    #[must_use]
    pub fn view(&self) -> Value {
        match self {
            Self::Cron(_, text) => json!({"cron": text}),
            Self::Every(every) => json!({"every_seconds": every}),
            Self::At(at) => json!({"at": at}),
        }
    }

    /// The first slot after the second `after`; none where there is no more. `anchor` is where counting of intervals
    /// begins.
    #[must_use]
    pub fn next(&self, after: i64, anchor: i64, zone: &TimeZone) -> Option<i64> {
        match self {
            Self::At(at) => (*at > after).then_some(*at),
            Self::Every(every) if after < anchor => anchor.checked_add(*every),
            Self::Every(every) => {
                let passed = after.checked_sub(anchor)?.div_euclid(*every);
                anchor.checked_add(passed.checked_add(1)?.checked_mul(*every)?)
            }
            Self::Cron(cron, _) => {
                let after = Timestamp::from_second(after).ok()?.to_zoned(zone.clone());
                let next: Zoned = cron.find_next_occurrence(&after, false).ok()?;
                Some(next.timestamp().as_second())
            }
        }
    }

    /// The next `count` slots.
    #[must_use]
    pub fn upcoming(&self, after: i64, anchor: i64, zone: &TimeZone, count: usize) -> Vec<i64> {
        let mut slots = Vec::with_capacity(count);
        let mut after = after;
        while slots.len() < count {
            let Some(slot) = self.next(after, anchor, zone) else { break };
            slots.push(slot);
            after = slot;
        }
        slots
    }
}

/// The whole seconds of a time that can be told apart from its neighbours.
fn seconds(time: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "below 2^53")]
    (time.abs() < 9e15).then(|| time.floor() as i64)
}

#[cfg(test)]
mod tests;
