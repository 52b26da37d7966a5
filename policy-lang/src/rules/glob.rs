//! The syntax of globs: `*`, `**`, `?`, `[..]`, `{a,b}` and `\` before a character that is to stand for itself.
//!
//! A glob is checked here with the place of the fault, so that building a matcher from it later can not fail.

use crate::diag::{Code, Diagnostic, quoted};
use crate::lower::Context;
use crate::source::Span;

/// A fault and the bytes of the glob that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// What is wrong there.
    pub what: Problem,
}

/// What is wrong with a glob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// `[` without its `]`.
    OpenClass,
    /// `[a-` with a higher character before the lower one.
    Range,
    /// A character beyond ASCII in `[..]`: matching is on bytes.
    NonAsciiClass,
    /// `{` without its `}`.
    OpenAlternatives,
    /// `}` without its `{`.
    CloseAlternatives,
    /// `\` at the end.
    Escape,
    /// More alternatives within each other than [`DEPTH`].
    TooDeep,
}

/// How deep `{..}` may stand within each other.
pub const DEPTH: usize = 8;

impl Problem {
    const fn message(self) -> &'static str {
        match self {
            Self::OpenClass => "`[` is never closed",
            Self::Range => "the range runs backwards",
            Self::NonAsciiClass => "a class may hold ASCII characters only",
            Self::OpenAlternatives => "`{` is never closed",
            Self::CloseAlternatives => "`}` closes nothing",
            Self::Escape => "`\\` escapes nothing",
            Self::TooDeep => "alternatives stand too deep within each other",
        }
    }

    const fn help(self) -> &'static str {
        match self {
            Self::OpenClass => "close it with `]`, or write `\\[` for the character itself",
            Self::Range => "write the lower character first",
            Self::NonAsciiClass => "write the characters as alternatives: `{ä,ö}`",
            Self::OpenAlternatives => "close it with `}`, or write `\\{` for the character itself",
            Self::CloseAlternatives => "open it with `{`, or write `\\}` for the character itself",
            Self::Escape => "write `\\\\` for a backslash",
            Self::TooDeep => "write the alternatives as entries of their own",
        }
    }
}

/// Whether a text holds a glob character.
#[must_use]
pub fn is_glob(text: &str) -> bool {
    memchr::memchr3(b'*', b'?', b'[', text.as_bytes()).is_some()
        || memchr::memchr3(b']', b'{', b'}', text.as_bytes()).is_some()
        || memchr::memchr(b'\\', text.as_bytes()).is_some()
}

/// Checks the syntax of a glob.
///
/// # Errors
/// The first fault.
pub fn check(glob: &str) -> Result<(), Fault> {
    // Stars and question marks alone are always well formed, and are what authors write.
    let paired = memchr::memchr3(b'[', b'{', b'}', glob.as_bytes()).is_some();
    if !paired && memchr::memchr(b'\\', glob.as_bytes()).is_none() {
        return Ok(());
    }
    let mut open: Vec<usize> = Vec::new();
    let mut chars = glob.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let fault = |what| Err(Fault { start: at, end: at + c.len_utf8(), what });
        match c {
            '\\' if chars.next().is_none() => return fault(Problem::Escape),
            '[' => {
                let length = class(glob.get(at + 1..).unwrap_or_default(), at + 1)?;
                let Some(length) = length else { return fault(Problem::OpenClass) };
                while chars.next_if(|(next, _)| *next <= at + length).is_some() {}
            }
            '{' if open.len() == DEPTH => return fault(Problem::TooDeep),
            '{' => open.push(at),
            '}' if open.pop().is_none() => return fault(Problem::CloseAlternatives),
            _ => {}
        }
    }
    match open.pop() {
        Some(start) => Err(Fault { start, end: start + 1, what: Problem::OpenAlternatives }),
        None => Ok(()),
    }
}

/// The length of a class in bytes, its `]` included; none where it is never closed. `text` begins after the `[`, which
/// is at `offset - 1` of the glob. A `]` directly after `[`, `[!` or `[^` stands for itself.
fn class(text: &str, offset: usize) -> Result<Option<usize>, Fault> {
    let body = text.strip_prefix(['!', '^']).unwrap_or(text);
    let skipped = text.len() - body.len();
    let end = body.char_indices().skip(1).find(|(_, c)| *c == ']').map(|(at, _)| at);
    let Some(end) = end else { return Ok(None) };
    let inner = body.get(..end).unwrap_or_default();
    let place = |at: usize| offset + skipped + at;
    if let Some((at, c)) = inner.char_indices().find(|(_, c)| !c.is_ascii()) {
        let (start, end) = (place(at), place(at) + c.len_utf8());
        return Err(Fault { start, end, what: Problem::NonAsciiClass });
    }
    let bytes = inner.as_bytes();
    let mut at = 0;
    while let Some(window) = bytes.get(at..at + 3) {
        match window {
            [low, b'-', high] if low > high => {
                return Err(Fault { start: place(at), end: place(at) + 3, what: Problem::Range });
            }
            [_, b'-', _] => at += 3,
            _ => at += 1,
        }
    }
    Ok(Some(skipped + end + 1))
}

/// The finding for a fault of the glob written at `span`: the faulty characters are underlined.
pub(crate) fn report(cx: &Context<'_>, glob: &str, span: Span, fault: &Fault) -> Diagnostic {
    let character = glob.get(..fault.start).unwrap_or_default().chars().count() + 1;
    let message = format!("{} is not a valid glob: {}", quoted(glob), fault.what.message());
    Diagnostic::new(Code::InvalidGlob, message)
        .at_saying(place(cx, glob, span, fault), format!("character {character} of the glob"))
        .help(fault.what.help())
}

/// Where the fault stands in the document; the whole text where escapes keep it from being counted out.
fn place(cx: &Context<'_>, glob: &str, span: Span, fault: &Fault) -> Span {
    let written = cx.slice(span);
    let quotes = if written == glob {
        0
    } else if written.get(1..written.len().saturating_sub(1)) == Some(glob) {
        1
    } else {
        return span;
    };
    let at =
        |offset: usize| u32::try_from(offset + quotes).ok().and_then(|offset| span.start.checked_add(offset));
    match (at(fault.start), at(fault.end)) {
        (Some(start), Some(end)) => Span { start, end, ..span },
        _ => span,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use globset::GlobBuilder;
    use proptest::prelude::*;

    #[test]
    fn faults_have_places() {
        for (glob, wanted) in [
            ("{a,b", Some((0, 1, Problem::OpenAlternatives))),
            ("x{a,{b}", Some((1, 2, Problem::OpenAlternatives))),
            ("a}b", Some((1, 2, Problem::CloseAlternatives))),
            ("é[ab", Some((2, 3, Problem::OpenClass))),
            ("[]", Some((0, 1, Problem::OpenClass))),
            ("[!]", Some((0, 1, Problem::OpenClass))),
            ("a[z-a]", Some((2, 5, Problem::Range))),
            ("[é]", Some((1, 3, Problem::NonAsciiClass))),
            ("a\\", Some((1, 2, Problem::Escape))),
            ("[]]", None),
            ("[!]a]", None),
            ("[a-z]{x,y}**?*", None),
            ("\\{", None),
            ("{a,{b,c}}", None),
            ("{{{{{{{{{a}}}}}}}}}", Some((8, 9, Problem::TooDeep))),
        ] {
            let found = check(glob).err().map(|fault| (fault.start, fault.end, fault.what));
            assert_eq!(found, wanted, "{glob:?}");
        }
    }

    proptest! {
        /// What passes here builds.
        #[test]
        fn a_checked_glob_builds(glob in r"[a-c*?\[\]{},!^\\/é.-]{0,16}") {
            if check(&glob).is_ok() {
                let built = GlobBuilder::new(&glob).literal_separator(true).backslash_escape(true).build();
                prop_assert!(built.is_ok(), "{:?}: {:?}", glob, built);
            }
        }
    }
}
