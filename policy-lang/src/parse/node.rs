//! The tree that both readers build: every key and every scalar knows where it was written.

use crate::source::Span;

/// One value of a document.
#[derive(Debug, Clone)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Where it was written. For a value reached through an alias or a merge key: where it was defined.
    pub span: Span,
    /// The alias or merge key through which it was reached, if any.
    pub via: Option<Span>,
}

/// What a value is, by the YAML 1.2 core schema. A quoted scalar is always text.
#[derive(Debug, Clone)]
pub enum NodeKind {
    /// `null`, `~` or nothing at all; `written` tells a written null from an absent value.
    Null {
        /// Whether anything was written.
        written: bool,
    },
    /// `true` or `false`.
    Bool(bool),
    /// An integer that fits; leading zeros and overflow are errors of the reader.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Text. `quoted` is false for a plain scalar.
    Text {
        /// The text, escapes resolved.
        text: String,
        /// Whether it stood in quotes.
        quoted: bool,
    },
    /// A sequence.
    Seq(Vec<Node>),
    /// A mapping in written order, merge keys applied, duplicates reported and dropped.
    Map(Vec<Entry>),
}

/// One entry of a mapping.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The key, always text.
    pub key: String,
    /// Where the key was written, quotes included.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}
