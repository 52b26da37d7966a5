//! The tree that both readers build: every key and every scalar knows where it was written.

use std::borrow::Cow;

use crate::source::Span;

/// One value of a document. Text is borrowed from the source wherever it stands there as it is meant.
#[derive(Debug, Clone)]
pub struct Node<'s> {
    /// What it is.
    pub kind: NodeKind<'s>,
    /// Where it was written. For a value reached through an alias or a merge key: where it was defined.
    pub span: Span,
    /// The alias or merge key through which it was reached, if any: the outermost, which stands where it was used.
    pub via: Option<Span>,
}

/// What a value is, by the YAML 1.2 core schema. A quoted scalar is always text.
#[derive(Debug, Clone)]
pub enum NodeKind<'s> {
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
        text: Cow<'s, str>,
        /// Whether it stood in quotes, or in a block scalar.
        quoted: bool,
    },
    /// A sequence.
    Seq(Vec<Node<'s>>),
    /// A mapping in written order, merge keys applied, duplicates reported and dropped.
    Map(Vec<Entry<'s>>),
    /// A value that the reader has reported already. Later stages pass over it without a word.
    Invalid,
}

/// One entry of a mapping.
#[derive(Debug, Clone)]
pub struct Entry<'s> {
    /// The key, always text.
    pub key: Cow<'s, str>,
    /// Where the key was written, quotes included.
    pub key_span: Span,
    /// The value.
    pub value: Node<'s>,
}

impl<'s> Node<'s> {
    /// The entries of a mapping; `None` for anything else.
    #[must_use]
    pub fn entries(&self) -> Option<&[Entry<'s>]> {
        match &self.kind {
            NodeKind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of a key of a mapping.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries()?.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// What the value is, as a message names it: `a number`, `a list`.
    #[must_use]
    pub const fn describe(&self) -> &'static str {
        match self.kind {
            NodeKind::Null { .. } => "null",
            NodeKind::Bool(_) => "a boolean",
            NodeKind::Int(_) | NodeKind::Float(_) => "a number",
            NodeKind::Text { .. } => "text",
            NodeKind::Seq(_) => "a list",
            NodeKind::Map(_) => "a mapping",
            NodeKind::Invalid => "an invalid value",
        }
    }
}
