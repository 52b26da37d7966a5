//! How the value of each kind of rule key is read, described and put into the schema: one file per kind.
//!
//! A kind is a [`Kind`] in a file of its own and a row of [`kind`]; the match there is exhaustive, so a kind of the
//! declaration without a reader does not compile. A key of an existing kind is a row of `endpoints.toml` alone.

pub mod bool;
pub mod glob;

mod audit;
mod commands;
mod count;
mod duration;
mod extensions;
mod languages;
mod list;
pub(crate) mod paths;
mod paths_or_true;
pub(crate) mod ports;
mod quantity;
pub(crate) mod scopes;
mod shells;
mod signals;
pub mod size;
mod symlinks;
mod urls;
mod variables;
mod word;

pub use duration::parse as parse_duration;
pub use quantity::Fault as QuantityFault;
pub use size::parse as parse_size;

use crate::endpoint::{KEYS, Key, KeyKind};
use crate::layer::Value;
use crate::lower::Context;
use crate::parse::{Node, NodeKind};

/// One kind of value.
pub struct Kind {
    /// Which.
    pub kind: KeyKind,
    /// What it takes, as messages say it: "a list of paths".
    pub takes: &'static str,
    /// What may be written, for the reference: sentences in Markdown.
    pub doc: &'static str,
    /// Reads a value of a key.
    pub(crate) read: fn(&mut Context<'_>, Key, Node<'_>) -> Option<Value>,
    /// What the schema says of a key of this kind.
    pub schema: fn(Key) -> serde_json::Value,
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kind").field("kind", &self.kind).field("takes", &self.takes).finish_non_exhaustive()
    }
}

/// How values of a kind are read.
#[must_use]
pub const fn kind(kind: KeyKind) -> &'static Kind {
    match kind {
        KeyKind::Bool => &bool::KIND,
        KeyKind::Scopes => &scopes::KIND,
        KeyKind::Audit => &audit::KIND,
        KeyKind::Paths => &paths::KIND,
        KeyKind::PathsOrTrue => &paths_or_true::KIND,
        KeyKind::Symlinks => &symlinks::KIND,
        KeyKind::Size => &size::KIND,
        KeyKind::Count => &count::KIND,
        KeyKind::Duration => &duration::KIND,
        KeyKind::Extensions => &extensions::KIND,
        KeyKind::Commands => &commands::KIND,
        KeyKind::Languages => &languages::KIND,
        KeyKind::Signals => &signals::KIND,
        KeyKind::Urls => &urls::KIND,
        KeyKind::Shells => &shells::KIND,
        KeyKind::Variables => &variables::KIND,
        KeyKind::Ports => &ports::KIND,
    }
}

/// What is said of a value that no key reads as it stands, where no finding says more.
pub(crate) const NOT_TAKEN: &str = "a value that the key does not take";

/// Reads the value of a key, or reports why it is none.
pub(crate) fn read(cx: &mut Context<'_>, key: Key, node: Node<'_>) -> Option<Value> {
    if matches!(node.kind, NodeKind::Invalid) {
        return None;
    }
    let decl = KEYS.get(key.index())?;
    (kind(decl.kind).read)(cx, key, node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_table_is_in_the_order_of_the_keys() {
        assert!(KEYS.iter().zip(Key::ALL).all(|(decl, key)| decl.key == key));
    }

    #[test]
    fn every_kind_stands_in_its_own_row() {
        for decl in &KEYS {
            assert_eq!(kind(decl.kind).kind, decl.kind);
        }
    }
}
