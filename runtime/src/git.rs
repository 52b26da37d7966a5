//! Looks at a git repository without letting it run anything: its hooks, filters, diff drivers and watchers are off, its
//! paths are taken literally, and what lies outside the allowed directories is not followed.

mod command;
mod repository;
mod status;

pub use command::{GitError, Output};
pub use repository::{Looking, Repository};
pub use status::{Entry, Status, parse_numstat, parse_status};
