//! The parser's errors in words that help, underlining what is wrong and not the line.

use std::ops::Range;

use granit_parser::{ErrorKind, ScanError};

use super::super::context::Context;
use crate::diag::{Code, Diagnostic, quoted};

/// A syntax error, and what the text around it says about its cause.
#[derive(Debug)]
pub(super) struct SyntaxError {
    kind: ErrorKind,
    range: Range<usize>,
    /// Whether nothing but blanks stands before it on its line.
    first_on_line: bool,
    word: String,
}

impl SyntaxError {
    pub(super) fn new(error: &ScanError, text: &str) -> Self {
        let at = error.marker().byte_offset().unwrap_or(0).min(text.len());
        let at = bad_escape(error.kind(), text, at).unwrap_or(at);
        let rest = text.get(at..).unwrap_or("");
        let width = width(error.kind(), rest);
        let before = text.get(..at).unwrap_or("");
        let line = before.rsplit(['\n', '\r']).next().unwrap_or("");
        Self {
            kind: error.kind().clone(),
            range: at..at + width,
            first_on_line: line.trim().is_empty(),
            word: rest.get(..width).unwrap_or("").to_owned(),
        }
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    pub(super) const fn is_depth(&self) -> bool {
        matches!(self.kind, ErrorKind::RecursionLimitExceeded)
    }

    /// Whether the value that ended just before was most likely never meant as one.
    pub(super) const fn blames_the_value_before(&self) -> bool {
        matches!(self.kind, ErrorKind::MappingValueNotAllowed)
    }

    /// Makes it the error that a word has no colon.
    pub(super) fn is_missing_colon(&mut self, start: usize, word: &str) {
        self.kind = ErrorKind::SimpleKeyExpected;
        self.range = start..start + word.len();
        word.clone_into(&mut self.word);
    }

    pub(super) const fn is_tab(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::TabNotAllowed
                | ErrorKind::TabInBlockIndentation
                | ErrorKind::TabInIndentation
                | ErrorKind::TabInPlainScalar
                | ErrorKind::TabAtBlockScalarStart
        )
    }

    pub(super) fn finding(&self, context: &Context<'_>) -> Diagnostic {
        let (message, help) = self.words();
        let finding = Diagnostic::new(Code::Syntax, message).at(context.span(self.range()));
        if help.is_empty() { finding } else { finding.help(help) }
    }

    fn words(&self) -> (String, &'static str) {
        use ErrorKind as E;
        let word = quoted(&self.word);
        let (message, help) = match &self.kind {
            E::ExpectedBlockMappingKey | E::ExpectedBlockSequenceEntry | E::InvalidIndentation
                if self.first_on_line =>
            {
                (
                    "this line is indented like none of the levels above it".to_owned(),
                    "indent it as the entries that it belongs to",
                )
            }
            E::ExpectedBlockMappingKey | E::ExpectedBlockSequenceEntry | E::ExpectedDocumentStart => (
                format!("{word} follows a value that has ended"),
                "put it on a line of its own, or the whole value in quotes",
            ),
            E::SimpleKeyExpected => (
                format!("{word} is a key without a value: a `:` is missing"),
                "write `key: value`, with a space after the colon",
            ),
            E::MappingValueNotAllowed => (
                "a second `:` on this line cannot begin a value".to_owned(),
                "put the nested key on a line of its own, or the value in quotes",
            ),
            E::InvalidColonPlacement => {
                ("a `:` cannot stand here".to_owned(), "is a closing `]` or `}` missing above?")
            }
            E::UnclosedQuotedScalar => ("this quote is never closed".to_owned(), "add the closing quote"),
            E::UnclosedFlowCollection { open } => {
                (format!("this `{open}` is never closed"), "add the closing bracket")
            }
            E::MisplacedFlowCollectionEnd => {
                (format!("{word} closes nothing"), "remove it, or put the value in quotes")
            }
            E::MismatchedFlowCollectionEnd { open, close } => {
                (format!("`{close}` cannot close `{open}`"), "close brackets in the order they were opened")
            }
            E::InvalidTrailingSingleQuotedScalar => {
                (format!("{word} follows the closing quote"), "within single quotes, write `''` for a quote")
            }
            E::InvalidTrailingDoubleQuotedScalar => (
                format!("{word} follows the closing quote"),
                "within double quotes, write `\\\"` for a quote",
            ),
            E::UnknownQuotedScalarEscape | E::InvalidQuotedScalarHexEscape | E::InvalidUnicodeEscape => (
                format!("{word} is no escape of a double-quoted string"),
                "in single quotes a backslash stands for itself",
            ),
            E::BlockSequenceEntryNotAllowed => {
                ("a list cannot begin on the line of its key".to_owned(), "put each `-` on a line of its own")
            }
            E::UnexpectedCharacter { character: '@' | '`' | '%' } => {
                (format!("{word} cannot begin a plain value"), "put the value in quotes")
            }
            E::UnexpectedCharacter { .. } => (
                format!("the character {word} cannot stand in a document"),
                "in double quotes it can be written as an escape",
            ),
            E::DirectiveDisallowed => {
                ("directives (`%YAML`, `%TAG`) are no part of a policy".to_owned(), "remove the line")
            }
            E::CommentInterceptedScalar => (
                "a comment interrupts a value that goes on in the next line".to_owned(),
                "indent the next line as a key, or move the comment",
            ),
            E::ExpectedFlowMappingSeparator | E::UnexpectedEofFlowMapping => {
                ("a `,` or `}` is expected here".to_owned(), "")
            }
            E::ExpectedFlowSequenceSeparator | E::UnexpectedEofFlowSequence => {
                ("a `,` or `]` is expected here".to_owned(), "")
            }
            E::InvalidFlowScalarIndent | E::InvalidQuotedScalarIndent => (
                "a value over several lines must be indented deeper than its key".to_owned(),
                "indent it, or is a closing quote or bracket missing above?",
            ),
            _ if self.is_tab() => ("a tab cannot stand here".to_owned(), "use spaces"),
            kind => (kind.to_string(), ""),
        };
        (message, help)
    }
}

/// How much to underline: the word where the error is, a quote up to the end of its line, else one character.
fn width(kind: &ErrorKind, rest: &str) -> usize {
    let line = rest.split(['\n', '\r']).next().unwrap_or("");
    let one = line.chars().next().map_or(0, char::len_utf8);
    match kind {
        ErrorKind::UnclosedQuotedScalar => line.trim_end().len(),
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidUnicodeEscape => line.chars().take(2).map(char::len_utf8).sum(),
        ErrorKind::UnclosedFlowCollection { .. } | ErrorKind::MappingValueNotAllowed => one,
        _ => {
            let word = line.find(|c: char| c.is_whitespace() || ",:[]{}#".contains(c)).unwrap_or(line.len());
            word.max(one)
        }
    }
}

/// The parser points at the string; the backslash is what the author looks for.
fn bad_escape(kind: &ErrorKind, text: &str, string: usize) -> Option<usize> {
    if !matches!(kind, ErrorKind::UnknownQuotedScalarEscape) {
        return None;
    }
    let mut characters = text.get(string..)?.char_indices();
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            let (_, escaped) = characters.next()?;
            if !"0abt\tnvfre \"/\\N_LPxuU\n\r".contains(escaped) {
                return Some(string + at);
            }
        }
    }
    None
}
