//! Fixes: the safe suggestions of a document's findings, made in its text, and never one that could widen access.
//!
//! [`delete`] takes entries out, [`apply()`] makes edits, [`widens`] judges, [`mend()`] finds what may be applied and proves each step.

mod apply;
pub mod delete;
mod judge;
mod mend;
mod offer;

pub use apply::apply;
pub use judge::widens;
pub use mend::{Fixed, Judge, Kept, mend};
