//! What an editor asks while a document is written: what stands at a place, what could stand there, and what it means.
//!
//! [`at`] finds the keys that lead to a place, in whatever state the text is; [`complete()`] lists what is legal there, [`hover()`]
//! says what a key means and what holds for it.

mod complete;
mod hover;
mod place;

pub use complete::{Item, ItemKind, complete};
pub use hover::{Hover, hover};
pub use place::{At, at};
