//! The shape of a pattern: most patterns ask for a directory, a name or an ending, and those need no automaton.

use super::pattern::{self, Pattern, Piece, Side};
use super::{fold, normal};
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

/// The shape of an entry that can be told from its text: a normal path, or `**/` before a name or an ending, the path and
/// the name with or without `/**`. `None` says only that the entry must be read.
///
/// Nothing about such an entry can be wrong, and most entries are such: they need no pattern.
pub(super) fn direct(entry: &str, side: Side) -> Option<Shape<'_>> {
    let (whole, below) = entry.strip_suffix("/**").map_or((entry, false), |whole| (whole, true));
    let refuses = side.refuses();
    let Some(name) = whole.strip_prefix("**/").filter(|_| refuses) else {
        if whole == "/" || !normal::is_normal(whole.as_bytes()) || !pattern::is_plain(whole) {
            return None;
        }
        return Some(match refuses {
            true => Shape::Path(folded(whole), Reach::Both),
            false => Shape::Path(whole.into(), if below { Reach::Below } else { Reach::Both }),
        });
    };
    let end = name.strip_prefix('*').filter(|_| !below);
    let text = end.unwrap_or(name);
    if text.is_empty() || text.contains('/') || !pattern::is_plain(text) {
        return None;
    }
    match end {
        Some(end) => Some(Shape::Suffix(folded(end))),
        None => (!matches!(name, "." | "..")).then(|| Shape::Name(folded(name))),
    }
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

fn folded(text: &str) -> Cow<'_, str> {
    if text.bytes().fold(false, |found, byte| found | byte.is_ascii_uppercase() | !byte.is_ascii()) {
        fold::text(text).into()
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry() -> impl Strategy<Value = String> {
        let parts = ["a", "A", "É", ".", "..", "", "*", "**", "*a", "a*", "?", "[a]", "{a,b}", "\\a", "~"];
        let part = prop::sample::select(parts.to_vec());
        let start = prop::sample::select(vec!["/", "", "**/", "//", "\0"]);
        (start, prop::collection::vec(part, 0..5))
            .prop_map(|(start, parts)| start.to_owned() + &parts.join("/"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn what_is_told_from_the_text_is_what_reading_finds(entry in entry()) {
            for side in [Side::Allow, Side::Deny, Side::ReadOnly] {
                let Some(shape) = direct(&entry, side) else { continue };
                let patterns = pattern::parse(&entry, side, "/base");
                prop_assert!(patterns.is_ok(), "{:?} {:?}", entry, side);
                let shapes: Vec<_> = patterns.iter().flatten().map(|pattern| classify(pattern, side)).collect();
                prop_assert_eq!(shapes, [shape], "{:?} {:?}", entry, side);
            }
        }
    }

    #[test]
    fn common_entries_need_no_reading() {
        for (entry, side) in [
            ("/home/user", Side::Allow),
            ("/home/user/**", Side::Allow),
            ("/etc/**", Side::Deny),
            ("**/.git/**", Side::Deny),
            ("**/.env", Side::ReadOnly),
            ("**/*.pem", Side::Deny),
        ] {
            assert!(direct(entry, side).is_some(), "{entry}");
        }
        for (entry, side) in [
            ("/", Side::Deny),
            ("/**", Side::Allow),
            ("**/..", Side::Deny),
            ("**/.", Side::Deny),
            ("**/a", Side::Allow),
            ("out", Side::Allow),
            ("**/*.pem/**", Side::Deny),
            ("/a\0", Side::Allow),
        ] {
            assert_eq!(direct(entry, side), None, "{entry}");
        }
    }
}
