//! Base values: read by the kind of their key.

use super::names::Candidates;
use super::{Key, Table, keys_are_whole};
use crate::decl::{At, Declaration, Written};
use crate::error::{Faults, Span};

/// A base value, ready to be written as code. Sizes are bytes, durations seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Base {
    Bool(bool),
    Number(u64),
    Words(Vec<String>),
    Numbers(Vec<u64>),
}

/// The values of a `limits` or `params` table by position of key, ascending.
pub(super) fn resolve(
    prefix: &str,
    written: &[(At<String>, At<Written>)],
    table: &Table,
    declared: &Declaration,
    faults: &mut Faults,
) -> Vec<(usize, Base)> {
    // A key of another prefix leaves an empty place, so that positions stay those of the keys.
    let short = |key: &'_ Key| {
        let short = key.name.text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.'));
        short.unwrap_or_default().to_owned()
    };
    let names: Vec<String> = table.keys.iter().map(short).collect();
    let noun = if prefix == "limits" { "limit" } else { "parameter" };
    let known = Candidates::new(noun, names.iter().map(String::as_str), keys_are_whole(declared));
    let mut base = Vec::new();
    for (name, value) in written {
        let Some(at) = known.find(name, faults) else { continue };
        if let Some(value) = table.keys.get(at).and_then(|key| read(key, value, faults)) {
            base.push((at, value));
        }
    }
    base.sort_by_key(|(at, _)| *at);
    base
}

/// One value by the kind of its key; a key whose kind could not be read has been reported.
fn read(key: &Key, value: &At<Written>, faults: &mut Faults) -> Option<Base> {
    let At { value, span } = value;
    let name = &key.name.text;
    let kind = key.kind.as_deref()?;
    let wanted = match (kind, value) {
        ("bool", Written::Flag(flag)) => return Some(Base::Bool(*flag)),
        ("size" | "count" | "duration", Written::Number(Some(number @ 1..))) => {
            return Some(Base::Number(*number));
        }
        ("size" | "count" | "duration", Written::Number(_)) => {
            faults.at(span, format!("bad {kind} for `{name}`")).label("must be a positive integer");
            return None;
        }
        ("size", Written::Text(text)) => return with_unit(key, text, span, SIZES, faults),
        ("duration", Written::Text(text)) => return with_unit(key, text, span, DURATIONS, faults),
        ("signals", Written::Numbers(numbers)) => return numbers_of(key, numbers, 64, faults),
        ("ports", Written::Numbers(numbers)) => return numbers_of(key, numbers, 65_535, faults),
        (
            "extensions" | "commands" | "languages" | "urls" | "shells" | "variables",
            Written::Words(words),
        ) => {
            return words_of(key, words, faults);
        }
        ("bool", _) => "true or false",
        ("size", _) => "bytes, as an integer or as text with a unit such as `4MB`",
        ("count", _) => "a positive integer",
        ("duration", _) => "seconds, as an integer or as text with a unit such as `5m`",
        ("signals" | "ports", _) => "a list of numbers",
        ("extensions" | "commands" | "languages" | "urls" | "shells" | "variables", _) => "a list of strings",
        _ => {
            faults.at(span, format!("`{name}` takes no base value")).label(format!("its kind is `{kind}`"));
            return None;
        }
    };
    faults.at(span, format!("wrong kind of base value for `{name}`")).label(format!("expected {wanted}"));
    None
}

type Units = &'static [(&'static str, u64)];

const SIZES: Units = &[
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

const DURATIONS: Units = &[("s", 1), ("m", 60), ("h", 3_600)];

/// `4MB`, `5m`: an integer and one of the units, spelt exactly.
fn with_unit(key: &Key, text: &str, span: &Span, units: Units, faults: &mut Faults) -> Option<Base> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    let value =
        number.parse::<u64>().ok().zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
    if let Some(value) = value.filter(|value| *value > 0) {
        return Some(Base::Number(value));
    }
    let kind = key.kind.as_deref().unwrap_or_default();
    let names: Vec<String> = units.iter().map(|(name, _)| format!("`{name}`")).collect();
    let fault = faults
        .at(span, format!("bad {kind} `{text}` for `{}`", key.name.text))
        .label(format!("expected a positive integer and one of {}", names.join(", ")));
    let begun = unit.trim().to_lowercase();
    let near = units.iter().filter(|(name, _)| !begun.is_empty() && name.to_lowercase().starts_with(&begun));
    let near: Vec<String> = near.map(|(name, _)| format!("`{number}{name}`")).collect();
    if factor.is_none() && !number.is_empty() && !near.is_empty() {
        fault.help(format!("did you mean {}?", near.join(" or ")));
    }
    None
}

/// A list of different numbers from 1 to `most`.
fn numbers_of(key: &Key, numbers: &[At<Option<u64>>], most: u64, faults: &mut Faults) -> Option<Base> {
    let name = &key.name.text;
    let mut read = Vec::with_capacity(numbers.len());
    for At { value, span } in numbers {
        match value.filter(|value| (1..=most).contains(value)) {
            Some(value) if read.contains(&value) => {
                faults.at(span, format!("`{value}` stands twice in `{name}`"));
            }
            Some(value) => read.push(value),
            None => {
                faults.at(span, format!("bad number in `{name}`")).label(format!("from 1 to {most}"));
            }
        }
    }
    (read.len() == numbers.len()).then_some(Base::Numbers(read))
}

/// A list of different words.
fn words_of(key: &Key, words: &[At<String>], faults: &mut Faults) -> Option<Base> {
    let name = &key.name.text;
    let mut read: Vec<String> = Vec::with_capacity(words.len());
    for At { value, span } in words {
        if value.trim().is_empty() {
            faults.at(span, format!("empty text in `{name}`"));
        } else if read.contains(value) {
            faults.at(span, format!("`{value}` stands twice in `{name}`"));
        } else {
            read.push(value.clone());
        }
    }
    (read.len() == words.len()).then_some(Base::Words(read))
}
