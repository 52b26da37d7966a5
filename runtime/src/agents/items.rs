//! Items: the transcript as whole messages, thoughts, tool calls, plans, questions and permissions.
//!
//! - `item`: an item and its kinds
//! - `reduce`: which event does what to which item
//! - `breaks`: which event ends which message
//! - `working`: the items that one append touches, and how they come to disk
//! - `tool`: what tool calls are made of
//! - `terminal`: what the agent's terminals printed
//! - `read`, `shown`: reading them, and what callers see
//!
//! All that the reducer knows is in the database, so it makes no difference how events are cut into appends, nor whether the
//! server was started anew in between. Nothing that an agent reports makes it fail; what it does not know it leaves to the log.

mod breaks;
mod item;
mod read;
mod reduce;
mod shown;
mod terminal;
mod tool;
mod working;

pub use item::{Item, ItemKind};
pub use read::{Filter, Neighbour, Whole, find, list, neighbours, tool_counts, turn_text};
pub(super) use read::{beginning, findable};
pub use shown::{full, summary};
pub(super) use tool::{named, of_files};
pub(super) use working::Working;

#[cfg(test)]
mod tests;
