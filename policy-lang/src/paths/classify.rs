//! The shape of a pattern: most patterns ask for a directory, a name or an ending, and those need no automaton.

use super::direct::is_lower;
use super::fold;
use super::pattern::{Pattern, Piece, Side};
use std::borrow::Cow;

/// What of a directory an entry covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The path itself.
    Itself,
    /// All below it.
    Below,
    /// Both.
    Both,
}

/// What a pattern comes down to. On the refusing sides texts are folded, and each shape covers all below what it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape<'a> {
    /// Every path.
    Everything,
    /// One absolute path.
    Path(Cow<'a, str>, Reach),
    /// A component of just this name.
    Name(Cow<'a, str>),
    /// A component that begins so.
    Prefix(Cow<'a, str>),
    /// A component that ends so.
    Suffix(Cow<'a, str>),
    /// Anything else.
    Rest(&'a [Piece]),
}

/// The shape of `pattern` on `side`.
pub(super) fn classify(pattern: &Pattern, side: Side) -> Shape<'_> {
    if side.refuses() { refusing(&pattern.pieces) } else { allowing(pattern) }
}

fn allowing(pattern: &Pattern) -> Shape<'_> {
    match pattern.pieces.as_slice() {
        [Piece::Text(path)] if pattern.plain => Shape::Path(path.as_str().into(), Reach::Both),
        [Piece::Text(path)] => Shape::Path(path.as_str().into(), Reach::Itself),
        [Piece::Text(dir), Piece::Stars] if dir.ends_with('/') => {
            Shape::Path(dir.trim_end_matches('/').into(), Reach::Below)
        }
        pieces => Shape::Rest(pieces),
    }
}

fn refusing(pieces: &[Piece]) -> Shape<'_> {
    match pieces {
        // `X/**` covers X as well, and X covers all below it: the ending says nothing.
        [head @ .., Piece::Text(text), Piece::Stars] if text.ends_with('/') => {
            match (head, text.trim_end_matches('/')) {
                ([] | [Piece::Stars], "") => Shape::Everything,
                ([Piece::Stars], name) => named(name).unwrap_or(Shape::Rest(pieces)),
                ([], path) => Shape::Path(folded(path), Reach::Both),
                _ => Shape::Rest(pieces),
            }
        }
        [Piece::Text(path)] if path == "/" => Shape::Everything,
        [Piece::Text(path)] => Shape::Path(folded(path), Reach::Both),
        [Piece::Stars] => Shape::Everything,
        [Piece::Stars, Piece::Text(name)] => named(name).unwrap_or(Shape::Rest(pieces)),
        [Piece::Stars, Piece::Text(slash), Piece::Star] if slash == "/" => Shape::Everything,
        [Piece::Stars, Piece::Text(slash), Piece::Star, Piece::Text(end)]
            if slash == "/" && !end.contains('/') =>
        {
            Shape::Suffix(folded(end))
        }
        [Piece::Stars, Piece::Text(name), Piece::Star] => match named(name) {
            Some(Shape::Name(begin)) => Shape::Prefix(begin),
            _ => Shape::Rest(pieces),
        },
        pieces => Shape::Rest(pieces),
    }
}

/// `/name` after leading stars.
fn named(text: &str) -> Option<Shape<'_>> {
    let name = text.strip_prefix('/').filter(|name| !name.is_empty() && !name.contains('/'))?;
    Some(Shape::Name(folded(name)))
}

/// A text as the refusing sides compare it.
pub(super) fn folded(text: &str) -> Cow<'_, str> {
    if is_lower(text) { text.into() } else { fold::text(text).into() }
}
