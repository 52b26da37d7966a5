//! Schedules: runs without a person at the keyboard.
//!
//! A slot is claimed by a row of its own before it fires, in the same transaction that moves its schedule on, so that it
//! fires once, whatever dies when and however often the clock is set back.
//!
//! - `trigger`: when; pure
//! - `zone`: time zones by name
//! - `rows`, `runs`: schedules and their slots in the database
//! - `keep`: the task that fires; `start` makes a turn of a run

pub mod keep;
pub mod rows;
pub mod runs;
pub mod start;
pub mod trigger;
pub mod zone;
