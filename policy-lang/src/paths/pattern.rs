//! One entry of `paths.allow`, `paths.deny` or `paths.read_only`, read.
//!
//! ```text
//! plain        no glob character: that path and all below it
//! *  ?         any characters, one character; both stop at `/`
//! **           any characters, `/` included
//! [a-z] [!a]   one character of a set, or not of it; never `/`
//! {a,b}        the entry is written out once for each alternative
//! \x           x itself
//! ```
//!
//! An entry that does not begin with `/` or `**/` is taken from `base_dir`, except a deny without any `/`, which speaks of
//! a component at any depth. What an entry yields is a list of absolute [`Pattern`]s, one for each written-out alternative.

mod braces;
mod error;
mod place;
mod token;

pub use error::{PatternError, PatternErrorKind};
pub use token::Class;

use std::ops::Range;

/// Which list an entry stands in; the lists differ in what an entry covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// `paths.allow`: exact, and a glob covers just what it matches.
    Allow,
    /// `paths.deny`: case and composition are ignored, and what is matched covers all below it.
    Deny,
    /// `paths.read_only`: as a deny, except that an entry without `/` is taken from `base_dir`.
    ReadOnly,
}

impl Side {
    /// Whether an entry covers all below what it matches, ignoring case and composition.
    #[must_use]
    pub const fn refuses(self) -> bool {
        matches!(self, Self::Deny | Self::ReadOnly)
    }
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Just this text.
    Text(String),
    /// `?`
    One,
    /// `*`
    Star,
    /// `**`
    Stars,
    /// `[…]`
    Class(Class),
}

/// An absolute pattern without alternatives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// Its parts; no two texts stand next to each other. The first is a text that begins with `/`, or [`Piece::Stars`].
    pub pieces: Vec<Piece>,
    /// Whether the entry has no glob character, so that it covers all below it on every side.
    pub plain: bool,
}

/// Whether a text holds a character that makes an entry a glob.
#[must_use]
pub fn is_glob(text: &str) -> bool {
    text.bytes().any(is_glob_character)
}

/// Whether a character makes an entry a glob.
pub(crate) const fn is_glob_character(c: u8) -> bool {
    matches!(c, b'*' | b'?' | b'[' | b']' | b'{' | b'}' | b'\\')
}

/// Whether a text holds neither a glob character nor a NUL.
pub(super) fn is_plain(text: &[u8]) -> bool {
    // Without an early end, so that sixteen bytes are looked at together.
    !text.iter().fold(false, |found, byte| found | (*byte == 0) | is_glob_character(*byte))
}

/// Reads an entry. `base_dir` is absolute and normal.
///
/// # Errors
/// What is wrong with it and where, as a byte range of `entry`.
pub fn parse(entry: &str, side: Side, base_dir: &str) -> Result<Vec<Pattern>, PatternError> {
    let whole = || 0..entry.len();
    if entry.is_empty() {
        return Err(PatternError { kind: PatternErrorKind::Empty, range: whole() });
    }
    if let Some(at) = memchr::memchr(0, entry.as_bytes()) {
        return Err(PatternError { kind: PatternErrorKind::Nul, range: at..at + 1 });
    }
    if !is_glob(entry) {
        return place::plain(entry, side, base_dir).map(|pattern| vec![pattern]);
    }
    let tokens = token::read(entry)?;
    let component = side == Side::Deny && !entry.contains('/');
    braces::expand(&tokens, entry)?
        .into_iter()
        .map(|pieces| place::glob(pieces, component, side, base_dir, whole()))
        .collect()
}

/// Checks an entry as [`parse`] would, where the base directory is not known yet.
///
/// # Errors
/// As [`parse`].
pub fn check(entry: &str, side: Side) -> Result<(), PatternError> {
    parse(entry, side, "/base").map(drop)
}

/// A range that covers one character of `entry` at `at`.
fn one_character(entry: &str, at: usize) -> Range<usize> {
    let length = entry.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    at..at + length
}

#[cfg(test)]
mod tests;
