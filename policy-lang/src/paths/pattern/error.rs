//! What can be wrong with an entry, each with its message and its way out.

use std::fmt;
use std::ops::Range;

/// A fault of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    /// What.
    pub kind: PatternErrorKind,
    /// Where: bytes of the entry.
    pub range: Range<usize>,
}

/// The faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PatternErrorKind {
    /// Nothing is written.
    Empty,
    /// A NUL byte.
    Nul,
    /// `[` without `]`.
    UnclosedClass,
    /// `[]` or `[!]`.
    EmptyClass,
    /// `/` inside `[…]`.
    SlashInClass,
    /// `[z-a]`
    ReversedRange,
    /// A class whose characters cannot be compared without case one by one.
    ClassTooWide,
    /// A character in a class that is several once composed.
    ComposedInClass,
    /// `{` without `}`.
    UnclosedBraces,
    /// `}` without `{`.
    UnopenedBraces,
    /// `{}`
    EmptyBraces,
    /// Braces within braces within braces …
    BracesTooDeep,
    /// Too many entries when written out.
    TooManyAlternatives,
    /// `]` without `[`.
    UnopenedClass,
    /// A `\` at the end.
    DanglingEscape,
    /// A `..` component in a glob.
    ParentInGlob,
    /// An allow entry that is the whole file system.
    WholeTree,
}

impl PatternErrorKind {
    /// What is wrong, as the predicate of a sentence about the entry.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Empty => "is empty",
            Self::Nul => "holds a NUL byte",
            Self::UnclosedClass => "opens a `[` that nothing closes",
            Self::EmptyClass => "has an empty `[…]`",
            Self::SlashInClass => "has a `/` inside `[…]`",
            Self::ReversedRange => "has a range whose end is before its start",
            Self::ClassTooWide => "has a range of characters too wide to compare without case",
            Self::ComposedInClass => "has a character in `[…]` that is several when composed",
            Self::UnclosedBraces => "opens a `{` that nothing closes",
            Self::UnopenedBraces => "closes a `}` that nothing opened",
            Self::EmptyBraces => "has an empty `{}`",
            Self::BracesTooDeep => "nests braces more than 8 deep",
            Self::TooManyAlternatives => {
                "stands for more than 1,024 paths when its alternatives are written out"
            }
            Self::UnopenedClass => "closes a `]` that nothing opened",
            Self::DanglingEscape => "ends in a `\\` that escapes nothing",
            Self::ParentInGlob => "has a `..` component beside a glob character",
            Self::WholeTree => "is the whole file system",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::Empty => "write a path, or remove the entry; an empty list allows nothing",
            Self::Nul => "no file name can hold a NUL byte",
            Self::UnclosedClass => "close it with `]`, or write `\\[` for the character itself",
            Self::EmptyClass => "name the characters that it stands for",
            Self::SlashInClass => "a class is one character of a name; write the `/` outside",
            Self::ReversedRange => "write the smaller character first",
            Self::ClassTooWide => "name at most 4,096 characters beyond ASCII in one class, or use `?`",
            Self::ComposedInClass => "write it as an alternative in `{…}`",
            Self::UnclosedBraces => "close it with `}`, or write `\\{` for the character itself",
            Self::UnopenedBraces => "write `\\}` for the character itself",
            Self::EmptyBraces => "name the alternatives, or write `\\{\\}` for the characters themselves",
            Self::BracesTooDeep | Self::TooManyAlternatives => "write it as several entries",
            Self::UnopenedClass => "write `\\]` for the character itself",
            Self::DanglingEscape => "write `\\\\` for the character itself",
            Self::ParentInGlob => "write the directory that is meant",
            Self::WholeTree => "name the directories that may be touched",
        }
    }

    /// Whether this is a fault of glob syntax; the others are faults of the path.
    #[must_use]
    pub const fn is_glob(self) -> bool {
        !matches!(self, Self::Empty | Self::Nul | Self::ParentInGlob | Self::WholeTree)
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.message())
    }
}

impl std::error::Error for PatternError {}
