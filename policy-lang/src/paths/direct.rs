//! Entries whose shape their text tells: a normal path, or `**/` before a name or an ending, the path and the name with or
//! without `/**`. Nothing about such an entry can be wrong, and most entries are such: they need no pattern.

use super::classify::{Reach, Shape, folded};
use super::normal;
use super::pattern::{self, Side};
use crate::resolved::{Entries, SEPARATOR, each_separator};

/// Whether the shape of an entry can be told from its text. `false` says only that the entry must be read.
pub(super) fn is_direct(entry: &str, side: Side) -> bool {
    let bytes = entry.as_bytes();
    match Parts::of(bytes, side) {
        Parts::Path { path, .. } => path != b"/" && normal::is_normal(path) && pattern::is_plain(path),
        Parts::Name(text) => is_name(text) && pattern::is_plain(text) && !matches!(text, b"." | b".."),
        Parts::Ending(text) => is_name(text) && pattern::is_plain(text),
    }
}

/// The shape of a direct entry.
pub(super) fn told(entry: &str, side: Side) -> Shape<'_> {
    let part = |from: u32, part: &[u8]| {
        let from = from as usize;
        entry.get(from..from + part.len()).unwrap_or_default()
    };
    match Parts::of(entry.as_bytes(), side) {
        Parts::Path { path, .. } if side.refuses() => Shape::Path(folded(part(0, path)), Reach::Both),
        Parts::Path { path, below } => Shape::Path(part(0, path).into(), reach(below)),
        Parts::Name(name) => Shape::Name(folded(part(NAME, name))),
        Parts::Ending(end) => Shape::Suffix(folded(part(ENDING, end))),
    }
}

/// What an allowed path covers.
pub(super) const fn reach(below: bool) -> Reach {
    if below { Reach::Below } else { Reach::Both }
}

pub(super) const NAME: u32 = 3;
pub(super) const ENDING: u32 = 4;

/// What a direct entry is made of.
pub(super) enum Parts<'a> {
    /// A path, and whether only what lies below it is meant.
    Path { path: &'a [u8], below: bool },
    /// The name behind `**/`, which begins at byte [`NAME`].
    Name(&'a [u8]),
    /// The ending behind `**/*`, which begins at byte [`ENDING`].
    Ending(&'a [u8]),
}

impl<'a> Parts<'a> {
    pub(super) fn of(entry: &'a [u8], side: Side) -> Self {
        let (whole, below) = match entry {
            [whole @ .., b'/', b'*', b'*'] => (whole, true),
            whole => (whole, false),
        };
        match whole {
            [b'*', b'*', b'/', b'*', end @ ..] if side.refuses() && !below => Self::Ending(end),
            [b'*', b'*', b'/', name @ ..] if side.refuses() => Self::Name(name),
            path => Self::Path { path, below },
        }
    }
}

fn is_name(text: &[u8]) -> bool {
    !text.is_empty() && !text.contains(&b'/')
}

/// Whether every element is direct.
pub(super) fn are_direct(list: &Entries, side: Side) -> bool {
    let look = || are_surely_direct(list, side) || list.values().all(|entry| is_direct(entry, side));
    list.are_direct(side, look)
}

/// Whether every element is direct, and compared as it stands.
pub(super) fn are_comparable(list: &Entries, side: Side) -> bool {
    are_direct(list, side) && (!side.refuses() || is_lower(list.text().as_str()))
}

/// The same, told by searches of the text of all, which take a fraction of the time of a look at each. `false` says
/// nothing: what only may be wrong counts as wrong here.
fn are_surely_direct(list: &Entries, side: Side) -> bool {
    let text = list.text().as_str().as_bytes();
    !has_glob_character(text)
        && list.are_split()
        && if side.refuses() { !has_odd_part(text) && is_each_simple(text, side) } else { are_paths(text) }
}

/// Whether each entry is a path in normal form, with or without `/**` and with no other star. It is told from three bytes at
/// a time, so that nobody has to know where one entry ends.
fn are_paths(text: &[u8]) -> bool {
    const END: u8 = SEPARATOR as u8;
    let ([b'/', second, ..], [.., y, z]) = (text, text) else { return false };
    let is = |one: u8, other: u8| u8::from(one == other);
    // Of the three the second is looked at: a star that is neither the first nor the last of `/**`, and what may not follow on a
    // slash or a separator.
    let odd = |a: u8, b: u8, c: u8| {
        let (first, last) = (is(a, b'/') & is(c, b'*'), is(a, b'*') & is(c, END));
        let star = is(b, b'*') & (1 ^ (first | last));
        let slash = is(b, b'/') & (is(c, END) | is(c, b'/') | (is(a, END) & is(c, b'*')));
        star | slash | (is(b, END) & (1 ^ is(c, b'/')))
    };
    let from = |start: usize| text.get(start..).unwrap_or_default().iter();
    let (mut found, mut dots) = (odd(END, b'/', *second) | odd(*y, *z, END), is(*second, b'.'));
    for ((a, b), c) in text.iter().zip(from(1)).zip(from(2)) {
        found |= odd(*a, *b, *c);
        dots |= is(*b, b'/') & is(*c, b'.');
    }
    found == 0 && (dots == 0 || !has_odd_part(text))
}

/// Whether each entry of a side that takes names and endings has one of their shapes, and no star or slash beside it: the
/// text has no more of them than the shapes need. Nobody keeps where the entries end.
fn is_each_simple(text: &[u8], side: Side) -> bool {
    let (mut simple, mut stars, mut slashes, mut start) = (true, 0, 0, 0);
    let mut take = |end: usize| {
        let entry = text.get(start..end).unwrap_or_default();
        let below = usize::from(entry.ends_with(b"/**"));
        let (shaped, own_stars, own_slashes) = match Parts::of(entry, side) {
            Parts::Path { path, .. } => {
                let slashes = memchr::memchr_iter(b'/', entry).count();
                (matches!(path, [b'/', .., last] if *last != b'/'), 2 * below, slashes)
            }
            Parts::Name(text) => (!text.is_empty(), 2 + 2 * below, 1 + below),
            Parts::Ending(text) => (!text.is_empty(), 3, 1),
        };
        simple &= shaped;
        stars += own_stars;
        slashes += own_slashes;
        start = end + 1;
    };
    each_separator(text, |at| take(at as usize));
    take(text.len());
    let count = |byte| memchr::memchr_iter(byte, text).count();
    simple && stars == count(b'*') && slashes == count(b'/')
}

/// Whether there is a glob character other than a star, or a NUL.
fn has_glob_character(text: &[u8]) -> bool {
    memchr::memchr3(b'?', b'[', b'{', text).is_some()
        || memchr::memchr3(b']', b'}', b'\\', text).is_some()
        || memchr::memchr2(b'|', 0, text).is_some()
}

/// Whether a part of a path may be empty, `.` or `..`.
fn has_odd_part(text: &[u8]) -> bool {
    let (mut doubled, mut dots) = (0, 0);
    let pairs = text.iter().zip(text.get(1..).unwrap_or_default());
    for (one, next) in pairs.clone() {
        let slash = u8::from(*one == b'/');
        doubled |= slash & u8::from(*next == b'/');
        dots |= slash & u8::from(*next == b'.');
    }
    if dots == 0 {
        return doubled != 0;
    }
    let ends = |byte: u8| (byte == b'/') | (byte == SEPARATOR as u8);
    let triples = pairs.zip(text.get(2..).unwrap_or_default());
    let odd = triples
        .fold(false, |odd, ((a, b), c)| odd | ((*a == b'/') & (*b == b'.') & ((*c == b'.') | ends(*c))));
    doubled != 0 || odd || text.ends_with(b"/.")
}

/// Whether a text is one that the refusing sides compare as it stands.
pub(super) fn is_lower(text: &str) -> bool {
    !text.bytes().fold(false, |found, byte| found | byte.is_ascii_uppercase() | !byte.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::super::classify::classify;
    use super::*;
    use crate::resolved::List;
    use proptest::prelude::*;

    fn entry() -> impl Strategy<Value = String> {
        let parts =
            ["a", "A", "É", ".", "..", "", "*", "**", "*a", "a*", "?", "[a]", "{a,b}", "\\a", "~", ".a", ":"];
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
                if !is_direct(&entry, side) {
                    continue;
                }
                let patterns = pattern::parse(&entry, side, "/base");
                prop_assert!(patterns.is_ok(), "{:?} {:?}", entry, side);
                let shapes: Vec<_> = patterns.iter().flatten().map(|pattern| classify(pattern, side)).collect();
                prop_assert_eq!(shapes, [told(&entry, side)], "{:?} {:?}", entry, side);
            }
        }

        #[test]
        fn what_one_look_tells_holds_for_each(entries in prop::collection::vec(entry(), 0..4)) {
            let list = List::of(&entries);
            for side in [Side::Allow, Side::Deny, Side::ReadOnly] {
                let each = entries.iter().all(|entry| is_direct(entry, side));
                prop_assert!(each || !are_surely_direct(list.entries(), side), "{:?} {:?}", entries, side);
                prop_assert_eq!(are_direct(list.entries(), side), each);
            }
        }
    }

    #[test]
    fn common_entries_need_no_reading() {
        for (entry, side) in [
            ("/home/user", Side::Allow),
            ("/home/user/**", Side::Allow),
            ("/home/user/.cache/**", Side::Allow),
            ("/etc/**", Side::Deny),
            ("**/.git/**", Side::Deny),
            ("**/.env", Side::ReadOnly),
            ("**/*.pem", Side::Deny),
        ] {
            assert!(is_direct(entry, side), "{entry}");
            assert!(are_surely_direct(List::of([entry, entry]).entries(), side), "{entry}");
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
            assert!(!is_direct(entry, side), "{entry}");
            assert!(!are_surely_direct(List::of([entry]).entries(), side), "{entry}");
        }
    }
}
