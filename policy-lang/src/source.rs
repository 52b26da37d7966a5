//! The text of every input, whatever its origin, and positions within it.
//!
//! A [`Span`] is a byte range of one source; a [`Place`] is the same range as a person counts it: lines and columns from
//! 1, columns in characters. Spans are cheap and made everywhere; places are made when something is shown or compiled.

use serde::{Deserialize, Serialize};

/// Which text of a [`SourceMap`] a span belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceId(pub u32);

/// A byte range `start..end` of one source. Both ends lie on character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The text.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A range as a person counts it. Lines and columns are 1-based, columns count characters, the end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// The text.
    pub source: SourceId,
    /// Line of the first character.
    pub line: u32,
    /// Column of the first character.
    pub column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// Column of the end.
    pub end_column: u32,
    /// First byte.
    pub byte_start: u32,
    /// One past the last byte.
    pub byte_end: u32,
}

/// A value and where it was written. Equality and order ignore the place: two policies of the same effect are equal.
#[derive(Debug, Clone)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Spanned<T> {}
