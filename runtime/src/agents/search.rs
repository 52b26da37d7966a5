//! Full-text search over the items of all sessions.
//!
//! - `words`: what of an item can be found, and how text is cut into words
//! - `query`: what callers write, as an expression of the index
//! - `hits`: asking the index
//! - `snippet`: the place of a text in which it was found

mod hits;
mod query;
mod snippet;
mod words;

pub use hits::{Asked, Hit, RANKED, search};
pub use query::{Query, QueryError};
pub(super) use words::index;
