//! The characters of a glob entry, read one by one: escapes resolved, classes gathered, braces left for the next step.

use super::{PatternError, PatternErrorKind, Piece, one_character};
use crate::paths::fold;

/// A set of characters, `/` never among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// Whether it stands for every character outside of `ranges`.
    pub negated: bool,
    /// Ranges, both ends included, as written.
    pub ranges: Vec<(char, char)>,
}

/// The most characters beyond ASCII that a class on a refusing side may hold.
const MOST_FOLDED: usize = 4096;

impl Class {
    /// The ranges with every character in its folded form, ASCII letters in both cases.
    ///
    /// # Errors
    /// A class too wide to be gone through, or with a character that folds into several.
    pub(in crate::paths) fn folded(&self) -> Result<Vec<(char, char)>, PatternErrorKind> {
        let mut ranges = Vec::new();
        let mut beyond = 0;
        for (low, high) in &self.ranges {
            for c in *low..=*high {
                if c.is_ascii() {
                    ranges.push((c.to_ascii_lowercase(), c.to_ascii_lowercase()));
                    ranges.push((c.to_ascii_uppercase(), c.to_ascii_uppercase()));
                    continue;
                }
                beyond += 1;
                if beyond > MOST_FOLDED {
                    return Err(PatternErrorKind::ClassTooWide);
                }
                let folded = fold::text(c.encode_utf8(&mut [0; 4]));
                let mut folded = folded.chars();
                let (Some(c), None) = (folded.next(), folded.next()) else {
                    return Err(PatternErrorKind::ComposedInClass);
                };
                ranges.push((c, c));
                ranges.push((c.to_ascii_uppercase(), c.to_ascii_uppercase()));
            }
        }
        Ok(ranges)
    }
}

/// A part of an entry before braces are written out. `at` is the byte where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Piece(Piece),
    Open { at: usize },
    Comma,
    Close { at: usize },
}

/// Reads every token of `entry`.
pub(super) fn read(entry: &str) -> Result<Vec<Token>, PatternError> {
    let mut reader = Reader { entry, at: 0, tokens: Vec::new() };
    while let Some(c) = reader.next() {
        reader.token(c)?;
    }
    Ok(reader.tokens)
}

struct Reader<'a> {
    entry: &'a str,
    at: usize,
    tokens: Vec<Token>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.entry.get(self.at..)?.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn token(&mut self, c: char) -> Result<(), PatternError> {
        let start = self.at - c.len_utf8();
        match c {
            '?' => self.tokens.push(Token::Piece(Piece::One)),
            '*' => {
                let mut piece = Piece::Star;
                while self.peek() == Some('*') {
                    self.next();
                    piece = Piece::Stars;
                }
                self.tokens.push(Token::Piece(piece));
            }
            '[' => {
                let class = self.class(start)?;
                self.tokens.push(Token::Piece(Piece::Class(class)));
            }
            ']' => return Err(self.fault(PatternErrorKind::UnopenedClass, start)),
            '{' => self.tokens.push(Token::Open { at: start }),
            '}' => self.tokens.push(Token::Close { at: start }),
            ',' => self.tokens.push(Token::Comma),
            '\\' => {
                let escaped =
                    self.next().ok_or_else(|| self.fault(PatternErrorKind::DanglingEscape, start))?;
                self.text(escaped);
            }
            c => self.text(c),
        }
        Ok(())
    }

    fn text(&mut self, c: char) {
        match self.tokens.last_mut() {
            Some(Token::Piece(Piece::Text(text))) => text.push(c),
            _ => self.tokens.push(Token::Piece(Piece::Text(c.into()))),
        }
    }

    /// The rest of a class whose `[` stands at `start`.
    fn class(&mut self, start: usize) -> Result<Class, PatternError> {
        let negated = matches!(self.peek(), Some('!' | '^'));
        if negated {
            self.next();
        }
        let mut ranges = Vec::new();
        loop {
            let at = self.at;
            let (low, escaped) = self.member(start)?;
            // A `]` that comes first is the character itself, if another one closes the class after it.
            if low == ']' && !escaped && !(ranges.is_empty() && self.closes_later()) {
                if ranges.is_empty() {
                    return Err(self.fault(PatternErrorKind::EmptyClass, start));
                }
                return Ok(Class { negated, ranges });
            }
            let mut high = low;
            if self.peek() == Some('-')
                && self.entry.get(self.at + 1..).is_some_and(|rest| !rest.starts_with(']'))
            {
                self.next();
                high = self.member(start)?.0;
            }
            if low == '/' || high == '/' || (low < '/' && '/' < high) {
                return Err(PatternError { kind: PatternErrorKind::SlashInClass, range: at..self.at });
            }
            if high < low {
                return Err(PatternError { kind: PatternErrorKind::ReversedRange, range: at..self.at });
            }
            ranges.push((low, high));
        }
    }

    /// One character of a class, and whether it is escaped.
    fn member(&mut self, start: usize) -> Result<(char, bool), PatternError> {
        let unclosed = |reader: &Self| reader.fault(PatternErrorKind::UnclosedClass, start);
        match self.next().ok_or_else(|| unclosed(self))? {
            '\\' => Ok((self.next().ok_or_else(|| unclosed(self))?, true)),
            c => Ok((c, false)),
        }
    }

    fn closes_later(&self) -> bool {
        self.entry
            .get(self.at..)
            .is_some_and(|rest| rest.split('/').next().is_some_and(|name| name.contains(']')))
    }

    fn fault(&self, kind: PatternErrorKind, at: usize) -> PatternError {
        PatternError { kind, range: one_character(self.entry, at) }
    }
}
