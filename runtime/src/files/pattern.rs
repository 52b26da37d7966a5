//! Name patterns: `fnmatch` on the last name, or a `**` glob on the relative path where the pattern holds a slash.

use super::FilesError;
use globset::{GlobBuilder, GlobMatcher};
use regex::bytes::{Regex, RegexBuilder};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Longest pattern, in bytes. Past that the automaton, not the walk, would be the cost.
const MAX_PATTERN: usize = 4096;
/// Memory of one compiled pattern.
const MAX_COMPILED: usize = 4 << 20;

/// A compiled pattern.
#[derive(Debug)]
pub enum Pattern {
    /// On the last name; `*` matches anything.
    Name(Regex),
    /// On the path below the top; `*` stops at a slash.
    Path(GlobMatcher),
}

impl Pattern {
    /// The pattern of a search: `fnmatch` as Python has it, case-sensitive, or with a slash a glob.
    ///
    /// # Errors
    ///
    /// [`FilesError::BadPattern`]
    pub fn search(text: &str) -> Result<Self, FilesError> {
        if text.contains('/') { Self::path(text) } else { Self::name(text) }
    }

    /// The pattern of the glob door: always a glob on the relative path; `*` and `?` never cross a slash.
    ///
    /// # Errors
    ///
    /// [`FilesError::BadPattern`]
    pub fn path(text: &str) -> Result<Self, FilesError> {
        check_length(text)?;
        let text = text.trim_start_matches('/');
        let text = text.strip_prefix("./").unwrap_or(text);
        let glob = GlobBuilder::new(text)
            .literal_separator(true)
            .build()
            .map_err(|_| FilesError::BadPattern("the glob is not well formed"))?;
        Ok(Self::Path(glob.compile_matcher()))
    }

    fn name(text: &str) -> Result<Self, FilesError> {
        check_length(text)?;
        RegexBuilder::new(&fnmatch(text))
            .size_limit(MAX_COMPILED)
            .build()
            .map(Self::Name)
            .map_err(|_| FilesError::BadPattern("the pattern is too complex"))
    }

    /// Whether an entry matches, by its last name and its path below the top.
    #[must_use]
    pub fn matches(&self, name: &[u8], relative: &[u8]) -> bool {
        match self {
            Self::Name(regex) => regex.is_match(name),
            Self::Path(glob) => glob.is_match(Path::new(OsStr::from_bytes(relative))),
        }
    }
}

fn check_length(text: &str) -> Result<(), FilesError> {
    if text.is_empty() {
        return Err(FilesError::BadPattern("the pattern is empty"));
    }
    if text.len() > MAX_PATTERN {
        return Err(FilesError::BadPattern("the pattern is too long"));
    }
    Ok(())
}

/// Translates `fnmatch` to a regular expression over bytes. `?` and `[…]` match a character, or one byte of a name
/// that is no UTF-8.
fn fnmatch(text: &str) -> String {
    let mut out = String::from(r"\A");
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '*' => {
                if !out.ends_with("(?s-u:.)*") {
                    out.push_str("(?s-u:.)*");
                }
            }
            '?' => out.push_str("(?s:.|(?-u:.))"),
            '[' => match class(rest.as_str()) {
                Some((class, after)) => {
                    out.push_str(&class);
                    rest = after.chars();
                }
                None => out.push_str(r"\["),
            },
            other => out.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    out.push_str(r"\z");
    out
}

/// A class from behind its `[`, and what follows its `]`; `None` where it is never closed, and `[` is a plain letter.
fn class(text: &str) -> Option<(String, &str)> {
    let (negated, body) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
    // A `]` in first place is a member.
    let first = body.chars().next()?.len_utf8();
    let close = first + body.get(first..)?.find(']')?;
    let (members, after) = (body.get(..close)?, body.get(close + 1..)?);
    let mut out = String::new();
    let letters: Vec<char> = members.chars().collect();
    let mut rest = letters.as_slice();
    while let [low, tail @ ..] = rest {
        let (low, high, tail) = match tail {
            ['-', high, tail @ ..] => (*low, *high, tail),
            _ => (*low, *low, tail),
        };
        // An empty range matches nothing, as in Python.
        if low <= high {
            let _ = write!(out, r"\x{{{:X}}}-\x{{{:X}}}", u32::from(low), u32::from(high));
        }
        rest = tail;
    }
    let class = match (out.is_empty(), negated) {
        (true, true) => "(?s:.|(?-u:.))".to_owned(),
        (true, false) => r"[^\x00-\x{10FFFF}]".to_owned(),
        (false, true) => format!("[^{out}]"),
        (false, false) => format!("[{out}]"),
    };
    Some((class, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(pattern: &str, name: &str) -> bool {
        Pattern::search(pattern)
            .unwrap()
            .matches(name.rsplit('/').next().unwrap().as_bytes(), name.as_bytes())
    }

    #[test]
    fn fnmatch_is_pythons() {
        for (pattern, name, want) in [
            ("*.py", "app.py", true),
            ("*.py", "deep/app.py", true),
            ("*.py", ".py", true),
            ("*.PY", "app.py", false),
            ("a?c", "a文c", true),
            ("a?c", "ac", false),
            ("[!a]*", "b", true),
            ("[!a]*", "a", false),
            ("[]]", "]", true),
            ("[", "[", true),
            ("[a-c]x", "bx", true),
            ("[c-a]x", "bx", false),
            ("[!c-a]x", "bx", true),
            ("[文-語]", "文", true),
            ("a.c", "abc", false),
            ("**", "x", true),
            ("*", "line\nbreak", true),
            ("x", "x\n", false),
        ] {
            assert_eq!(hits(pattern, name), want, "{pattern} {name:?}");
        }
        assert!(Pattern::search("a?c").unwrap().matches(b"a\xffc", b"a\xffc"));
    }

    #[test]
    fn a_slash_makes_it_a_glob_on_the_path() {
        for (pattern, name, want) in [
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/b/a.rs", false),
            ("src/**/*.rs", "src/b/c/a.rs", true),
            ("src/**/*.rs", "src/a.rs", true),
            ("**/a.rs", "a.rs", true),
            ("./src/a.rs", "src/a.rs", true),
        ] {
            assert_eq!(hits(pattern, name), want, "{pattern} {name:?}");
        }
    }

    #[test]
    fn refuses_patterns_that_would_cost_more_than_the_walk() {
        assert!(Pattern::search("").is_err());
        assert!(Pattern::search(&"a".repeat(5000)).is_err());
        assert!(Pattern::search("a/[").is_err());
    }
}
