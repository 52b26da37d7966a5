//! What a plain scalar is, by the YAML 1.2 core schema. JSON's numbers are read by the same rules.

use super::NodeKind;
use crate::diag::{Code, Diagnostic, Suggestion, quoted};
use crate::source::Span;

/// A plain scalar that the language refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refused {
    /// `060`: octal, decimal or text, depending on whom one asks. Holds the number without its leading zeros.
    LeadingZero(String),
    /// More than an `i64` or an `f64` holds.
    OutOfRange,
}

impl Refused {
    /// The finding at the scalar as written.
    pub(super) fn finding(&self, written: &str, span: Span) -> Diagnostic {
        match self {
            Self::LeadingZero(number) => {
                Diagnostic::new(Code::Syntax, format!("number {} has a leading zero", quoted(written)))
                    .at(span)
                    .help("YAML readers disagree whether such a number is octal; write it without the zero, or in quotes if it is text")
                    .suggest(Suggestion::review("write the decimal number", span, number.clone()))
            }
            Self::OutOfRange => Diagnostic::new(Code::Syntax, format!("number {} is out of range", quoted(written)))
                .at(span)
                .help(format!("the largest number is {}", i64::MAX)),
        }
    }
}

/// Null, boolean, number, or `None` for text.
pub(super) fn resolve<'s>(plain: &str) -> Result<Option<NodeKind<'s>>, Refused> {
    Ok(Some(match plain {
        "" => NodeKind::Null { written: false },
        "~" | "null" | "Null" | "NULL" => NodeKind::Null { written: true },
        "true" | "True" | "TRUE" => NodeKind::Bool(true),
        "false" | "False" | "FALSE" => NodeKind::Bool(false),
        _ => return number(plain),
    }))
}

/// A number, or `None` for text that only begins like one.
pub(super) fn number<'s>(plain: &str) -> Result<Option<NodeKind<'s>>, Refused> {
    let unsigned = plain.strip_prefix(['-', '+']).unwrap_or(plain);
    match unsigned.bytes().next() {
        Some(b'0'..=b'9') => {}
        Some(b'.') => return Ok(float(plain, unsigned)),
        _ => return Ok(None),
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        // By the core schema only unsigned numbers have these forms.
        if let Some(digits) = plain.strip_prefix(prefix)
            && !digits.is_empty()
            && digits.chars().all(|digit| digit.is_digit(radix))
        {
            return integer(i64::from_str_radix(digits, radix));
        }
    }
    let decimal = unsigned.bytes().all(|byte| byte.is_ascii_digit());
    if !decimal && float(plain, unsigned).is_none() {
        return Ok(None);
    }
    let significant = unsigned.trim_start_matches('0');
    if unsigned.starts_with('0') && unsigned.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
        let sign = if plain.starts_with('-') { "-" } else { "" };
        let zero = if significant.starts_with(|first: char| first.is_ascii_digit()) { "" } else { "0" };
        return Err(Refused::LeadingZero(format!("{sign}{zero}{significant}")));
    }
    if decimal {
        return integer(plain.parse());
    }
    match float(plain, unsigned) {
        Some(NodeKind::Float(value)) if value.is_infinite() => Err(Refused::OutOfRange),
        found => Ok(found),
    }
}

fn integer<'s>(read: Result<i64, std::num::ParseIntError>) -> Result<Option<NodeKind<'s>>, Refused> {
    read.map(|value| Some(NodeKind::Int(value))).map_err(|_| Refused::OutOfRange)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, `.inf` and `.nan`.
fn float<'s>(plain: &str, unsigned: &str) -> Option<NodeKind<'s>> {
    match unsigned {
        ".inf" | ".Inf" | ".INF" => {
            let infinity = if plain.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
            return Some(NodeKind::Float(infinity));
        }
        ".nan" | ".NaN" | ".NAN" => return (plain == unsigned).then_some(NodeKind::Float(f64::NAN)),
        _ => {}
    }
    // What Rust reads beyond the schema begins with a letter, and the callers have looked at the first character.
    let digits = unsigned.bytes().any(|byte| byte.is_ascii_digit());
    let schema = unsigned.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    (digits && schema).then(|| plain.parse().ok().map(NodeKind::Float))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(plain: &str) -> String {
        match resolve(plain) {
            Ok(None) => "text".to_owned(),
            Ok(Some(kind)) => format!("{kind:?}"),
            Err(refused) => format!("{refused:?}"),
        }
    }

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        for (plain, wanted) in [
            ("", "Null { written: false }"),
            ("~", "Null { written: true }"),
            ("NULL", "Null { written: true }"),
            ("nULL", "text"),
            ("True", "Bool(true)"),
            ("yes", "text"),
            ("on", "text"),
            ("0", "Int(0)"),
            ("-0", "Int(0)"),
            ("+7", "Int(7)"),
            ("-12", "Int(-12)"),
            ("0x1F", "Int(31)"),
            ("0o17", "Int(15)"),
            ("0b1", "text"),
            ("-0x1", "text"),
            ("0x", "text"),
            ("1_000", "text"),
            ("9223372036854775807", "Int(9223372036854775807)"),
            ("9223372036854775808", "OutOfRange"),
            ("1e999", "OutOfRange"),
            ("060", "LeadingZero(\"60\")"),
            ("-007", "LeadingZero(\"-7\")"),
            ("00", "LeadingZero(\"0\")"),
            ("00.5", "LeadingZero(\"0.5\")"),
            ("09", "LeadingZero(\"9\")"),
            ("0644x", "text"),
            ("0.5", "Float(0.5)"),
            (".5", "Float(0.5)"),
            ("1.", "Float(1.0)"),
            ("1e3", "Float(1000.0)"),
            ("-1.5E-2", "Float(-0.015)"),
            (".inf", "Float(inf)"),
            ("-.INF", "Float(-inf)"),
            (".nan", "Float(NaN)"),
            ("-.nan", "text"),
            ("inf", "text"),
            ("nan", "text"),
            (".", "text"),
            ("-", "text"),
            ("e5", "text"),
            ("1e", "text"),
            ("1.2.3", "text"),
            ("5MB", "text"),
            ("-.gitignore", "text"),
        ] {
            assert_eq!(shown(plain), wanted, "{plain:?}");
        }
    }
}
