//! Options of a session: mode, model and whatever else its agent lets a caller choose, and its slash commands.
//!
//! | module | |
//! |---|---|
//! | `merge` | the three ways in which agents tell them, as one list |

pub mod merge;

pub use merge::{Choice, CommandView, OptionView, Options, Via};
