//! What the `paths` keys mean: which paths an endpoint may touch, judged on bytes, without a file system.
//!
//! [`normal`] makes a requested path absolute; [`pattern`] reads an entry; `classify` finds its shape; `set` keeps the
//! patterns of one list by shape (`keys` for paths, names and endings, `rest` for what needs an automaton); [`fold`] is
//! the form in which denials compare; [`rules`] puts the lists of one endpoint together and judges.

mod classify;
pub mod fold;
mod keys;
pub mod normal;
pub mod pattern;
mod rest;
pub mod rules;
mod set;

pub use normal::{PathError, absolute};
pub use rules::{PathRules, PathRulesError, PathSource, PathVerdict, ReadOnlySource, Symlinks};

#[cfg(test)]
mod tests;
