//! Sessions: one conversation with an agent, bound to a directory, a permission policy and a durable log.
//!
//! | module | |
//! |---|---|
//! | `fields` | what a caller says of a new one |
//! | `open` | a new one; `fork` a branch of another; `worktree` a tree of its own |
//! | `delete` | closing one, and deleting it; `cancelling` a turn of it |
//! | `live` | those that are served, and how many may be |
//! | `actor` | the task that serves one |
//! | `ear` | what its agent says, on the way to that task |
//! | `speech` | what it says in pieces, without secrets |
//! | `client` | files and terminals, where an agent may ask for them |
//! | `state` | what state follows from what is so |
//! | `details` | what it keeps about itself |
//! | `budget` | what may be used up |
//! | `digest`, `story` | the story so far, for an agent without a memory of it |
//! | `recover` | what a start does about those that were live |
//! | `list`, `view` | how callers see them |
//! | `fault` | how a failure becomes an answer |

pub mod actor;
pub mod budget;
pub mod cancelling;
pub mod client;
pub mod delete;
pub mod details;
pub mod digest;
mod ear;
pub mod fault;
pub mod fields;
pub mod fork;
pub mod list;
pub mod live;
pub mod open;
pub mod recover;
mod speech;
pub mod state;
pub mod story;
pub mod view;
mod worktree;
