//! A whole number of small units, written as a number or as text with a unit: what sizes and durations share.

use crate::diag::{Code, Diagnostic, Suggestion, quoted};
use crate::endpoint::Key;
use crate::layer::Value;
use crate::lower::Context;
use crate::parse::{Node, NodeKind};

/// What to do where nothing was to be allowed at all.
pub(crate) const CLOSE_INSTEAD: &str = "to allow nothing, close the endpoint with `enabled: false`";

/// One unit: its spelling and how many of the smallest unit it is.
pub(crate) type Unit = (&'static str, u64);

/// Why a text is no quantity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Not a number and a unit.
    Malformed,
    /// A number without a unit.
    NoUnit,
    /// A number and this, which is no unit.
    UnknownUnit(String),
    /// Nothing.
    Zero,
    /// Below nothing.
    Negative,
    /// Not a whole number of the smallest unit.
    Fraction,
    /// Past what can be counted.
    Overflow,
}

/// Reads `number [space] unit`. The number is decimal digits, with a decimal point and more digits where the result is
/// whole; it has no sign, no exponent and no leading zero before another digit.
pub(crate) fn parse(text: &str, unit: impl Fn(&str) -> Option<u64>) -> Result<u64, Fault> {
    if let Some(rest) = text.strip_prefix('-') {
        return Err(if rest.starts_with(|c: char| c.is_ascii_digit()) {
            Fault::Negative
        } else {
            Fault::Malformed
        });
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at_checked(end).ok_or(Fault::Malformed)?;
    let (whole, decimals) =
        number.split_once('.').map_or((number, None), |(whole, part)| (whole, Some(part)));
    let well_formed = !whole.is_empty()
        && (whole == "0" || !whole.starts_with('0'))
        && decimals.is_none_or(|part| !part.is_empty() && !part.contains('.'));
    if !well_formed {
        return Err(Fault::Malformed);
    }
    let name = rest.strip_prefix(' ').unwrap_or(rest);
    if rest.is_empty() {
        return Err(Fault::NoUnit);
    }
    let factor =
        unit(name).ok_or_else(|| match name.chars().all(char::is_alphabetic) && !name.is_empty() {
            true => Fault::UnknownUnit(name.to_owned()),
            false => Fault::Malformed,
        })?;
    scale(whole, decimals.unwrap_or_default(), factor)
}

/// `whole.decimals` times `factor`, exactly.
fn scale(whole: &str, decimals: &str, factor: u64) -> Result<u64, Fault> {
    const LARGEST: u128 = i64::MAX as u128;
    let decimals = decimals.trim_end_matches('0');
    let whole: u128 = whole.parse().map_err(|_| Fault::Overflow)?;
    let mut total = whole.checked_mul(u128::from(factor)).ok_or(Fault::Overflow)?;
    if !decimals.is_empty() {
        let digits = u32::try_from(decimals.len()).map_err(|_| Fault::Fraction)?;
        let parts: u128 = decimals.parse().map_err(|_| Fault::Fraction)?;
        let parts = parts.checked_mul(u128::from(factor)).ok_or(Fault::Fraction)?;
        let scale = 10_u128.checked_pow(digits).ok_or(Fault::Fraction)?;
        if parts % scale != 0 {
            return Err(Fault::Fraction);
        }
        total = total.checked_add(parts / scale).ok_or(Fault::Overflow)?;
    }
    match u64::try_from(total) {
        Ok(0) => Err(Fault::Zero),
        Ok(total_units) if total <= LARGEST => Ok(total_units),
        _ => Err(Fault::Overflow),
    }
}

/// How one kind of quantity speaks of itself.
pub(crate) struct Words {
    pub(crate) code: Code,
    /// "a size"
    pub(crate) article: &'static str,
    /// "bytes"
    pub(crate) smallest: &'static str,
    /// What it takes.
    pub(crate) takes: &'static str,
    /// The units, as help lists them.
    pub(crate) units: &'static str,
    /// Full texts to offer for a number with this unknown unit.
    pub(crate) offers: fn(number: &str, unit: &str) -> Vec<String>,
}

/// Reads a quantity: a positive integer of the smallest unit, or text for `parse`.
pub(crate) fn read(
    cx: &mut Context<'_>,
    key: Key,
    node: &Node<'_>,
    words: &Words,
    parse: fn(&str) -> Result<u64, Fault>,
) -> Option<Value> {
    let fault = match &node.kind {
        NodeKind::Int(number) => match u64::try_from(*number) {
            Ok(number) if number > 0 => return Some(Value::Number(number)),
            Ok(_) => Fault::Zero,
            Err(_) => Fault::Negative,
        },
        NodeKind::Float(_) => Fault::Fraction,
        NodeKind::Text { text, .. } => match parse(text) {
            Ok(number) => return Some(Value::Number(number)),
            Err(fault) => fault,
        },
        _ => {
            let report = cx.wrong_type(&format!("`{}`", key.as_str()), words.takes, node);
            cx.emit(report);
            return None;
        }
    };
    let report = explain(cx, key, node, words, &fault);
    cx.emit(report);
    None
}

fn explain(cx: &Context<'_>, key: Key, node: &Node<'_>, words: &Words, fault: &Fault) -> Diagnostic {
    let written = match &node.kind {
        NodeKind::Text { text, .. } => text,
        _ => cx.slice(node.span),
    };
    let name = key.as_str();
    let article = words.article;
    let shown = quoted(written);
    let message = match fault {
        Fault::Malformed => format!("{shown} is not {article}"),
        Fault::NoUnit => format!("{shown} is text without a unit"),
        Fault::UnknownUnit(unit) => format!("{} in {shown} is no unit of {article}", quoted(unit)),
        Fault::Zero => format!("`{name}` must not be zero"),
        Fault::Negative => format!("`{name}` must not be negative"),
        Fault::Fraction => format!("{shown} is not a whole number of {}", words.smallest),
        Fault::Overflow => format!("{shown} is too large"),
    };
    let report = Diagnostic::new(words.code, message).at(node.span);
    let offers = match fault {
        Fault::Zero | Fault::Negative => return report.help(CLOSE_INSTEAD),
        Fault::NoUnit => {
            let help = format!("write `{written}` unquoted for {}, or add a unit", words.smallest);
            return report.help(help).suggest(Suggestion::review("remove the quotes", node.span, written));
        }
        Fault::Overflow => return report.help(format!("the most is {} {}", i64::MAX, words.smallest)),
        Fault::UnknownUnit(unit) => {
            let number = written.trim_end_matches(unit.as_str()).trim_end();
            (words.offers)(number, unit)
        }
        _ => Vec::new(),
    };
    if offers.is_empty() {
        return report.help(words.units);
    }
    let help = crate::lower::alternatives(offers.iter().map(String::as_str));
    offers.iter().fold(report.help(format!("did you mean {help}?")), |report, offer| {
        report.suggest(Suggestion::review(
            format!("write `{offer}`"),
            node.span,
            cx.quoted_like(node.span, offer),
        ))
    })
}

/// The schema of a quantity: what `parse` reads, but for overflow and fractions of the smallest unit.
pub(crate) fn schema(units: &[Unit], any_case: bool) -> serde_json::Value {
    let letter = |c: char| match any_case {
        true => format!("[{}{}]", c.to_ascii_uppercase(), c.to_ascii_lowercase()),
        false => c.to_string(),
    };
    let units: Vec<String> = units.iter().map(|(name, _)| name.chars().map(letter).collect()).collect();
    let number = r"([1-9][0-9]*(\.[0-9]+)?|0\.[0-9]*[1-9][0-9]*)";
    let pattern = format!("^{number} ?({})$", units.join("|"));
    serde_json::json!({
        "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "pattern": pattern }]
    })
}
