//! Sets of texts as automata, and walks over several of them at once.
//!
//! A path list is a regular language, so whether two policies permit the same paths is a question about a product of
//! automata, and the first accepting state on a walk by length is the shortest path on which they differ. Each list is
//! one small automaton ([`Machine`]); [`Grammar`] keeps a walk to texts that can be asked about.

mod grammar;
mod machine;
mod product;
mod symbols;
mod wild;

pub(crate) use grammar::Grammar;
pub(crate) use machine::{Machine, Machines, TooLarge};
pub(crate) use product::{Accepted, Alive, Product, Tape};
