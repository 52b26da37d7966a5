//! The gate: `serde_json` over the whole text, and its errors in words that help.

use serde::de::IgnoredAny;
use serde_json::Error;
use serde_json::error::Category;

use super::super::context::Context;
use super::super::scalar::{self, Refused};
use crate::diag::{Code, Diagnostic, Suggestion};

/// Whether a text is JSON.
pub(in super::super) fn is_well_formed(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Where and why the text from a byte on is no JSON; `None` where it is.
pub(super) fn fault(context: &Context<'_>, start: usize) -> Option<Diagnostic> {
    let text = context.text.get(start..).unwrap_or("");
    let error = serde_json::from_str::<IgnoredAny>(text).err()?;
    if text.trim().is_empty() {
        let end = start + text.len();
        return Some(super::super::empty(context.span(end..end)));
    }
    let at = offset(text, &error);
    let rest = text.get(at..).unwrap_or("");
    let before = text.get(..at).unwrap_or("");
    let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').filter(|&end| end > 0);
    let width = word.unwrap_or_else(|| rest.chars().next().map_or(0, char::len_utf8));
    let span = context.span(start + at..start + at + width);
    let trailing_comma = rest.starts_with([']', '}']) && before.trim_end().ends_with(',');
    if trailing_comma {
        let comma = start + before.trim_end().len() - 1;
        let finding = Diagnostic::new(Code::Syntax, "a comma stands before the closing bracket")
            .at(context.span(comma..comma + 1))
            .suggest(Suggestion::review("remove the comma", context.span(comma..comma + 1), ""));
        return Some(finding.help("JSON has no trailing commas"));
    }
    if let Some(finding) = leading_zero(context, text, start, at) {
        return Some(finding);
    }
    let finding = Diagnostic::new(Code::Syntax, sentence(&error)).at(span);
    Some(match help(&error, rest) {
        Some(help) => finding.help(help),
        None => finding,
    })
}

/// The number around the error, if it is one like `060`.
fn leading_zero(context: &Context<'_>, text: &str, start: usize, at: usize) -> Option<Diagnostic> {
    let within = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
    let from = text.get(..at)?.trim_end_matches(within).len();
    let rest = text.get(from..)?;
    let written = rest.get(..rest.find(|c| !within(c)).unwrap_or(rest.len()))?;
    match scalar::number(written) {
        Err(refused @ Refused::LeadingZero(_)) => {
            let from = start + from;
            Some(refused.finding(written, context.span(from..from + written.len())))
        }
        _ => None,
    }
}

/// The message without its position, which the label carries.
pub(super) fn sentence(error: &Error) -> String {
    let message = error.to_string();
    let message = message.split_once(" at line ").map_or(message.as_str(), |(message, _)| message);
    match message {
        "expected value" => "a value is expected here".to_owned(),
        "key must be a string" => "a key must be a string in double quotes".to_owned(),
        "control character (\\u0000-\\u001F) found while parsing a string" => {
            "a line break or control character stands inside a string".to_owned()
        }
        "unexpected end of hex escape" | "lone leading surrogate in hex escape" => {
            "a `\\u` escape of this string is half of a surrogate pair".to_owned()
        }
        "trailing characters" => "the document has ended, and more text follows".to_owned(),
        message => message.replace("EOF while parsing", "the text ends inside"),
    }
}

/// Where the error lies. `serde_json` counts lines by LF, and columns in bytes from 1 up to the byte it stopped at.
fn offset(text: &str, error: &Error) -> usize {
    if error.classify() == Category::Eof {
        return text.len();
    }
    let line = error.line().saturating_sub(1);
    let start = match line.checked_sub(1) {
        None => 0,
        Some(breaks) => {
            memchr::memchr_iter(b'\n', text.as_bytes()).nth(breaks).map_or(text.len(), |at| at + 1)
        }
    };
    let at = (start + error.column().saturating_sub(1)).min(text.len());
    let control = error.to_string().starts_with("control character");
    let at = match text.as_bytes().get(at..).filter(|_| control) {
        Some(rest) => at + rest.iter().position(|&byte| byte < 0x20).unwrap_or(0),
        None => at,
    };
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

fn help(error: &Error, rest: &str) -> Option<&'static str> {
    let message = error.to_string();
    let first = rest.chars().next();
    if first == Some('/') || first == Some('#') {
        return Some("JSON has no comments; a policy with comments can be written in YAML");
    }
    if first == Some('\'') {
        return Some("strings and keys stand in double quotes");
    }
    if message.starts_with("key must be a string") {
        return Some("put the key in double quotes");
    }
    if message.starts_with("control character") {
        return Some("a string ends on its own line; is the closing quote missing?");
    }
    if message.starts_with("expected `,`") {
        return Some("separate entries with a comma");
    }
    matches!(rest.get(..4), Some("True" | "None" | "Fals" | "Null"))
        .then_some("JSON writes `true`, `false` and `null` in lower case")
}
