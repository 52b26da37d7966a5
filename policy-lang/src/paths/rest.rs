//! Patterns of no simple shape: one automaton for all of them.

use super::fold;
use super::pattern::{Class, Pattern, Piece, Side};
use regex_automata::meta::{BuildError, Regex};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind, PatternSet};
use std::fmt::Write as _;

/// The most memory that the automaton of one list may take while it is made.
const MOST_BYTES: usize = 256 << 20;

/// Patterns behind one automaton.
#[derive(Debug, Clone)]
pub(super) struct Rest {
    regex: Regex,
    /// By pattern of `regex`.
    patterns: Vec<Origin>,
}

#[derive(Debug, Clone)]
struct Origin {
    element: u32,
    /// The directory that every match lies in, without a slash at its end; folded on the refusing sides.
    within: Box<str>,
}

/// Patterns on their way to a [`Rest`].
#[derive(Debug, Default)]
pub(super) struct RestBuilder {
    sources: Vec<String>,
    patterns: Vec<Origin>,
}

impl RestBuilder {
    pub(super) fn add(&mut self, pieces: &[Piece], side: Side, element: u32) {
        self.sources.push(source(pieces, side));
        self.patterns.push(Origin { element, within: within(pieces, side).into() });
    }

    /// The automaton; none where no pattern was added.
    pub(super) fn build(self) -> Result<Option<Rest>, Box<BuildError>> {
        if self.sources.is_empty() {
            return Ok(None);
        }
        let syntax = syntax::Config::new().unicode(false).utf8(false).dot_matches_new_line(true);
        let config = Regex::config()
            .match_kind(MatchKind::All)
            .utf8_empty(false)
            .which_captures(regex_automata::nfa::thompson::WhichCaptures::None)
            .nfa_size_limit(Some(MOST_BYTES))
            .onepass(false);
        let regex = Regex::builder().syntax(syntax).configure(config).build_many(&self.sources)?;
        Ok(Some(Rest { regex, patterns: self.patterns }))
    }
}

impl Rest {
    /// Whether any pattern matches.
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        self.regex.is_match(Input::new(path).anchored(Anchored::Yes))
    }

    /// The least element whose pattern matches.
    pub(super) fn find(&self, path: &[u8]) -> Option<u32> {
        if !self.matches(path) {
            return None;
        }
        let mut found = PatternSet::new(self.regex.pattern_len());
        self.regex.which_overlapping_matches(&Input::new(path).anchored(Anchored::Yes), &mut found);
        found.iter().filter_map(|ix| self.patterns.get(ix.as_usize())).map(|origin| origin.element).min()
    }

    /// The directories that the matches lie in.
    pub(super) fn within(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(|origin| &*origin.within)
    }
}

/// A whole entry as an expression over the bytes of a path, folded ones on the refusing sides: the same language that the
/// sorted shapes of a list match, in the form that can be compared.
pub(crate) fn expression(pattern: &Pattern, side: Side) -> String {
    if side.refuses() || !pattern.plain {
        return source(&pattern.pieces, side);
    }
    let mut source = String::new();
    for piece in &pattern.pieces {
        if let Piece::Text(text) = piece {
            literal(&mut source, text, side);
        }
    }
    source.push_str(r"(?:/.*)?\z");
    source
}

/// The directory before the first part that is not text.
fn within(pieces: &[Piece], side: Side) -> String {
    let Some(Piece::Text(text)) = pieces.first() else { return String::new() };
    let dir = text.rsplit_once('/').map_or("", |(dir, _)| dir);
    if side.refuses() { fold::text(dir) } else { dir.to_owned() }
}

/// The pattern as a regular expression over the bytes of a path.
fn source(pieces: &[Piece], side: Side) -> String {
    let mut source = String::new();
    let mut rest = pieces;
    // On the refusing sides `X/**` covers X, and all below is covered by the ending.
    while let [head @ .., Piece::Text(text), Piece::Stars] = rest
        && side.refuses()
        && text.ends_with('/')
    {
        rest = match text.as_str() {
            "/" => head,
            _ => rest.get(..rest.len() - 1).unwrap_or_default(),
        };
    }
    for (ix, piece) in rest.iter().enumerate() {
        let before = ix.checked_sub(1).and_then(|before| rest.get(before));
        let after_slash = matches!(before, Some(Piece::Text(text)) if text.ends_with('/'));
        let before_slash = matches!(rest.get(ix + 1), Some(Piece::Text(text)) if text.starts_with('/'));
        match piece {
            Piece::Text(text) => {
                // `/**/` is one slash or more: the slash after the stars is part of them.
                let inner = matches!(before, Some(Piece::Stars)) && joined(rest, ix - 1);
                let text = if inner { text.strip_prefix('/').unwrap_or(text) } else { text };
                let last = ix + 1 == rest.len() && side.refuses();
                literal(&mut source, if last { text.trim_end_matches('/') } else { text }, side);
            }
            Piece::One if side.refuses() => source.push_str(r"(?:(?u:[^/])|[\x80-\xff])"),
            Piece::One => source.push_str("(?u:[^/])"),
            Piece::Star => source.push_str("[^/]*"),
            Piece::Stars if after_slash && before_slash => source.push_str("(?:.*/)?"),
            Piece::Stars if after_slash && ix + 1 == rest.len() => source.push_str(".+"),
            Piece::Stars => source.push_str(".*"),
            Piece::Class(class) => self::class(&mut source, class, side),
        }
    }
    source.push_str(if side.refuses() { r"(?:/.*)?\z" } else { r"\z" });
    source
}

/// Whether the stars at `ix` stand between two slashes.
fn joined(pieces: &[Piece], ix: usize) -> bool {
    let before = ix.checked_sub(1).and_then(|before| pieces.get(before));
    matches!(before, Some(Piece::Text(text)) if text.ends_with('/'))
}

pub(crate) fn literal(source: &mut String, text: &str, side: Side) {
    let folded = if side.refuses() { fold::text(text) } else { text.to_owned() };
    for byte in folded.bytes() {
        match byte {
            b'a'..=b'z' if side.refuses() => {
                let (lower, upper) = (char::from(byte), char::from(byte.to_ascii_uppercase()));
                let _ = write!(source, "[{lower}{upper}]");
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'_' => source.push(char::from(byte)),
            byte => {
                let _ = write!(source, r"\x{byte:02x}");
            }
        }
    }
}

fn class(source: &mut String, class: &Class, side: Side) {
    // A class that does not fold was refused when it was read.
    let folded = if side.refuses() { class.folded().ok() } else { None };
    let ranges = folded.as_ref().unwrap_or(&class.ranges);
    let stray = side.refuses() && class.negated;
    source.push_str(if stray { "(?:(?u:[" } else { "(?u:[" });
    source.push_str(if class.negated { "^/" } else { "" });
    for (low, high) in ranges {
        let _ = write!(source, r"\x{{{:x}}}-\x{{{:x}}}", u32::from(*low), u32::from(*high));
    }
    source.push_str(if stray { r"])|[\x80-\xff])" } else { "])" });
}
