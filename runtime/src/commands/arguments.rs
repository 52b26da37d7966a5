//! The arguments of a command: what a call brings, checked against the declaration and converted to its types.
//!
//! | type | takes |
//! |---|---|
//! | `string` | text; a number or a boolean becomes its text |
//! | `integer` | a whole number, also `3.0`, also as text |
//! | `float` | a finite number, also as text |
//! | `boolean` | `true` or `false`; the words `true`, `false`, `yes`, `no`, `1`, `0` in any case; the numbers 1 and 0 |
//!
//! `null` is an absent argument. What is not declared is refused: a misspelt name must not run with the default.

use serde_json::{Map, Number, Value};

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    /// Text.
    String,
    /// A whole number of 64 bits.
    Integer,
    /// A finite number.
    Float,
    /// True or false.
    Boolean,
}

/// One declared argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// Its name: an identifier.
    pub name: String,
    /// Its type.
    pub kind: ArgumentKind,
    /// Whether a call must bring it.
    pub required: bool,
    /// What holds where a call does not bring it; already of its type.
    pub default: Option<Value>,
    /// What it is, for people; may be empty.
    pub description: String,
}

/// The arguments of one call: every declared one that has a value, by its name.
pub type Arguments = Map<String, Value>;

/// Why a call's arguments are not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// A required one is absent.
    #[error("Missing required argument '{0}'")]
    Missing(String),
    /// One that is not declared.
    #[error("Unknown argument '{name}'; expected: {expected}")]
    Unknown {
        /// As the call names it.
        name: String,
        /// The declared names, or that there are none.
        expected: String,
    },
    /// It cannot be converted.
    #[error("Argument '{name}' must be {}", kind.takes())]
    Type {
        /// The argument.
        name: String,
        /// What it should be.
        kind: ArgumentKind,
    },
}

impl ArgumentError {
    /// The argument that it is about.
    #[must_use]
    pub fn argument(&self) -> &str {
        match self {
            Self::Missing(name) | Self::Unknown { name, .. } | Self::Type { name, .. } => name,
        }
    }
}

/// Converts what a call brings.
///
/// # Errors
/// The first argument that is unknown, of the wrong type or missing.
pub fn convert(declared: &[Argument], given: Map<String, Value>) -> Result<Arguments, ArgumentError> {
    let mut converted = Map::new();
    for (name, value) in given {
        let Some(argument) = declared.iter().find(|argument| argument.name == name) else {
            return Err(ArgumentError::Unknown { name, expected: names(declared) });
        };
        if !value.is_null() {
            let kind = argument.kind;
            let value =
                kind.convert(value).ok_or_else(|| ArgumentError::Type { name: name.clone(), kind })?;
            converted.insert(name, value);
        }
    }
    for argument in
        declared.iter().filter(|argument| !converted.contains_key(&argument.name)).collect::<Vec<_>>()
    {
        match &argument.default {
            Some(default) => drop(converted.insert(argument.name.clone(), default.clone())),
            None if argument.required => return Err(ArgumentError::Missing(argument.name.clone())),
            None => {}
        }
    }
    Ok(converted)
}

fn names(declared: &[Argument]) -> String {
    let names: Vec<&str> = declared.iter().map(|argument| argument.name.as_str()).collect();
    if names.is_empty() { "no arguments".to_owned() } else { names.join(", ") }
}

/// Whether this may be the name of an argument: what a placeholder, a variable and a Python parameter can carry.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let begins = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    begins && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl ArgumentKind {
    /// All.
    pub const ALL: [Self; 4] = [Self::String, Self::Integer, Self::Float, Self::Boolean];

    /// As declarations and `GET /commands` write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Boolean => "boolean",
        }
    }

    /// The type of that word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// What it takes, as the end of "must be …".
    #[must_use]
    pub const fn takes(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Float => "a number",
            Self::Boolean => "a boolean (true/false/yes/no/1/0)",
        }
    }

    /// The value as this type; none where it is none.
    #[must_use]
    pub fn convert(self, value: Value) -> Option<Value> {
        match (self, value) {
            (Self::String, Value::String(text)) => Some(Value::String(text)),
            (Self::String, Value::Number(number)) => Some(Value::String(number.to_string())),
            (Self::String, Value::Bool(flag)) => Some(Value::String(flag.to_string())),
            (Self::Integer, Value::Number(number)) => integer(&number),
            (Self::Integer, Value::String(text)) => text.trim().parse::<i64>().ok().map(Value::from),
            (Self::Float, Value::Number(number)) => float(number.as_f64()?),
            (Self::Float, Value::String(text)) => float(text.trim().parse().ok()?),
            (Self::Boolean, Value::Bool(flag)) => Some(Value::Bool(flag)),
            (Self::Boolean, Value::Number(number)) => boolean(&number.to_string()),
            (Self::Boolean, Value::String(text)) => boolean(text.trim()),
            _ => None,
        }
    }
}

fn integer(number: &Number) -> Option<Value> {
    if number.is_i64() {
        return Some(Value::Number(number.clone()));
    }
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9e15)?;
    #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
    Some(Value::from(float as i64))
}

fn float(number: f64) -> Option<Value> {
    Number::from_f64(number).map(Value::Number)
}

fn boolean(word: &str) -> Option<Value> {
    let is = |words: [&str; 3]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
    if is(["true", "yes", "1"]) {
        Some(Value::Bool(true))
    } else {
        is(["false", "no", "0"]).then_some(Value::Bool(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_become_the_declared_type_or_nothing() {
        use ArgumentKind::{Boolean, Float, Integer, String};
        for (kind, given, wanted) in [
            (String, json!("a"), Some(json!("a"))),
            (String, json!(3), Some(json!("3"))),
            (String, json!(true), Some(json!("true"))),
            (String, json!([]), None),
            (String, json!({}), None),
            (Integer, json!(3), Some(json!(3))),
            (Integer, json!(3.0), Some(json!(3))),
            (Integer, json!("-3"), Some(json!(-3))),
            (Integer, json!(3.5), None),
            (Integer, json!("3.0"), None),
            (Integer, json!(true), None),
            (Integer, json!(u64::MAX), None),
            (Integer, json!("9223372036854775808"), None),
            (Float, json!(3), Some(json!(3.0))),
            (Float, json!("2.5"), Some(json!(2.5))),
            (Float, json!("nan"), None),
            (Float, json!("inf"), None),
            (Float, json!(false), None),
            (Boolean, json!(false), Some(json!(false))),
            (Boolean, json!("YES"), Some(json!(true))),
            (Boolean, json!("no"), Some(json!(false))),
            (Boolean, json!("1"), Some(json!(true))),
            (Boolean, json!(0), Some(json!(false))),
            (Boolean, json!(2), None),
            (Boolean, json!("on"), None),
            (Boolean, json!(""), None),
        ] {
            assert_eq!(kind.convert(given.clone()), wanted, "{} from {given}", kind.as_str());
        }
    }

    #[test]
    fn what_is_missing_or_unknown_is_named() {
        let declared = |name: &str, required, default: Option<Value>| Argument {
            name: name.to_owned(),
            kind: ArgumentKind::Integer,
            required,
            default,
            description: String::new(),
        };
        let all =
            [declared("a", true, None), declared("b", false, Some(json!(2))), declared("c", false, None)];
        let call = |value: Value| convert(&all, value.as_object().unwrap().clone());
        assert_eq!(
            call(json!({"a": "1", "c": null})),
            Ok(json!({"a": 1, "b": 2}).as_object().unwrap().clone())
        );
        let text = |value| call(value).unwrap_err().to_string();
        assert_eq!(text(json!({})), "Missing required argument 'a'");
        assert_eq!(text(json!({"a": null})), "Missing required argument 'a'");
        assert_eq!(text(json!({"a": 1, "d": 1})), "Unknown argument 'd'; expected: a, b, c");
        assert_eq!(text(json!({"a": "x"})), "Argument 'a' must be an integer");
        let none = convert(&[], json!({"x": 1}).as_object().unwrap().clone()).unwrap_err();
        assert_eq!(none.to_string(), "Unknown argument 'x'; expected: no arguments");
    }

    proptest::proptest! {
        #[test]
        fn converting_twice_changes_nothing(text in ".{0,12}") {
            for kind in ArgumentKind::ALL {
                if let Some(once) = kind.convert(Value::String(text.clone())) {
                    proptest::prop_assert_eq!(kind.convert(once.clone()), Some(once));
                }
            }
        }
    }
}
