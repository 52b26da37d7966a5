//! Text to a tree of spanned nodes.

pub mod node;

pub use node::{Entry, Node, NodeKind};
