//! Levels that stand in the document: `# abx: allow CODE REASON` leaves findings of a code out where it stands, `warn` and
//! `deny` make them warnings and errors.
//!
//! [`comments`] reads them, [`scope`] says which lines each speaks of, [`apply()`] puts them to the findings of a run. What a
//! caller says of a code by a flag beats the document; an error of the language cannot be lowered by either.

mod apply;
mod comments;
mod scope;

pub use apply::apply;
pub use comments::{Directive, directives};
