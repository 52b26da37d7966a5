//! Folding: the form in which denials compare. Composition is NFC, case is simple (one character to one character).
//!
//! A path that is ASCII is its own fold up to ASCII case, which the comparisons ignore by themselves, so only paths with
//! other characters are rewritten. Bytes that are no UTF-8 stay as they are.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// The folded form of a path; borrowed while it is ASCII, whose case every comparison ignores.
#[must_use]
pub fn path(path: &[u8]) -> Cow<'_, [u8]> {
    if path.is_ascii() {
        return Cow::Borrowed(path);
    }
    let mut folded = Vec::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        folded.extend_from_slice(text(chunk.valid()).as_bytes());
        folded.extend_from_slice(chunk.invalid());
    }
    Cow::Owned(folded)
}

/// The folded form of text: lower case, composed.
#[must_use]
pub fn text(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfc().map(character).nfc().collect()
}

/// One character without its case. Characters whose upper or lower case is several characters keep their own form, and
/// characters that share an upper case (`ſ` and `s`, `ς` and `σ`) become the same.
#[must_use]
pub fn character(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let upper = single(c.to_uppercase()).unwrap_or(c);
    single(upper.to_lowercase()).unwrap_or(c)
}

fn single(mut mapped: impl Iterator<Item = char>) -> Option<char> {
    let first = mapped.next()?;
    mapped.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_composition_vanish() {
        for (one, other) in [
            ("/É", "/e\u{301}"),
            ("/ÅNGSTRÖM", "/a\u{30a}ngstro\u{308}m"),
            ("/ΣΊΣΥΦΟΣ", "/σίσυφος"),
            ("/\u{212a}ey", "/key"),
            ("/J\u{30c}", "/\u{1f0}"),
            ("/Straſse", "/STRASSE"),
        ] {
            let fold = |text: &str| path(text.as_bytes()).to_ascii_lowercase();
            assert_eq!(fold(one), fold(other), "{one} {other}");
        }
        assert_eq!(text("Ꮳ"), text("ꮳ"));
    }

    #[test]
    fn ascii_is_borrowed_and_stray_bytes_stay() {
        assert!(matches!(path(b"/A/b"), Cow::Borrowed(_)));
        assert_eq!(&*path(b"/\xff\xc3\x89"), b"/\xff\xc3\xa9");
    }

    #[test]
    fn folding_twice_changes_nothing() {
        for c in '\u{80}'..='\u{1ffff}' {
            let once = text(c.encode_utf8(&mut [0; 4]));
            assert_eq!(text(&once), once, "{c:?}");
        }
    }
}
