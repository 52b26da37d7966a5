//! What turns used: tokens, cost and context, from wherever an agent tells it.
//!
//! - `told`: the places in which agents tell it
//! - `reduce`: events into one row a turn
//! - `report`: rows into sums

mod reduce;
mod report;
mod told;

pub(super) use reduce::reduce;
pub use report::{Grouping, Report, Span, report};
pub use told::{of_answer, of_meta};
