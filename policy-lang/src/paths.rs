//! What the `paths` keys mean: which paths an endpoint may touch, judged on bytes, without a file system.
//!
//! [`normal`] makes a requested path absolute; [`pattern`] reads an entry; `classify` finds its shape, and `direct` tells it
//! of most entries without reading; `set` keeps the
//! patterns of one list by shape (`keys` for paths, names and endings, `rest` for what needs an automaton); [`fold`] is
//! the form in which denials compare; [`rules`] puts the lists of one endpoint together and judges.

mod classify;
mod direct;
pub mod fold;
pub(crate) mod keys;
pub mod normal;
mod origins;
pub mod pattern;
pub(crate) mod rest;
pub mod rules;
mod set;
mod tables;

pub use normal::{PathError, absolute};
pub use rules::{PathRules, PathRulesError, PathSource, PathVerdict, ReadOnlySource, Symlinks};

use crate::resolved::Entries;

/// Whether the shape of an entry can be told from its text. Nothing can be wrong about such an entry.
pub(crate) fn is_direct(entry: &str, side: pattern::Side) -> bool {
    direct::is_direct(entry, side)
}

/// The same of every entry.
pub(crate) fn are_direct(entries: &Entries, side: pattern::Side) -> bool {
    direct::are_direct(entries, side)
}

#[cfg(test)]
mod tests;
