//! Skills: instructions and files that are put where an agent looks for them when a session starts, and taken away when
//! it is closed.
//!
//! - `folders`: where each agent looks
//! - `skill`: what a skill is, and whether what was sent is one
//! - `rows`: the database
//! - `install`: into the workspace, and out of it again
//! - `found`: skills that lie in a workspace already

pub mod folders;
pub mod found;
pub mod install;
pub mod rows;
pub mod skill;
