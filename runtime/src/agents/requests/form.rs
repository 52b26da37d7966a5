//! Whether an answer fits the form that an agent asks with: a flat JSON schema of strings, numbers, booleans and choices.
//!
//! What a schema says in words that are not known here is not judged: the agent does that itself.

use regex::RegexBuilder;
use serde::Serialize;
use serde_json::{Map, Value};
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime};

/// A pattern may cost this much memory when compiled, in bytes.
const PATTERN_BYTES: usize = 1 << 20;

/// One thing that is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The field.
    pub field: String,
    /// What is wrong, in words.
    pub problem: String,
}

/// Everything that is wrong with the content as an answer to `schema`; nothing where it fits.
#[must_use]
pub fn problems(schema: &Value, content: &Map<String, Value>) -> Vec<Problem> {
    let empty = Map::new();
    let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let mut found = Vec::new();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if content.get(name).is_none_or(Value::is_null) {
            found.push(Problem { field: name.to_owned(), problem: "is required".to_owned() });
        }
    }
    for (name, value) in content.iter().filter(|(_, value)| !value.is_null()) {
        let problem = match fields.get(name) {
            Some(field) => wrong(field, value),
            None => Some("is not asked for".to_owned()),
        };
        found.extend(problem.map(|problem| Problem { field: name.clone(), problem }));
    }
    found
}

/// What is wrong with a value, if anything is.
fn wrong(field: &Value, value: &Value) -> Option<String> {
    match field.get("type").and_then(Value::as_str) {
        Some("string") => match value.as_str() {
            Some(text) => choice(field, value).or_else(|| in_string(field, text)),
            None => Some("must be a string".to_owned()),
        },
        Some("integer") if !is_whole(value) => Some("must be an integer".to_owned()),
        Some("integer" | "number") => match value.as_f64() {
            Some(number) => choice(field, value).or_else(|| in_number(field, number)),
            None => Some("must be a number".to_owned()),
        },
        Some("boolean") if !value.is_boolean() => Some("must be true or false".to_owned()),
        Some("array") => match value.as_array() {
            Some(items) => in_array(field, items),
            None => Some("must be a list".to_owned()),
        },
        _ => choice(field, value),
    }
}

fn is_whole(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// The values that may be chosen, where the field names them: `enum`, or `const` in `oneOf` or `anyOf`.
fn choices(field: &Value) -> Option<Vec<&Value>> {
    if let Some(values) = field.get("enum").and_then(Value::as_array) {
        return Some(values.iter().collect());
    }
    let variants = field.get("oneOf").or_else(|| field.get("anyOf"))?.as_array()?;
    variants.iter().map(|variant| variant.get("const")).collect()
}

fn choice(field: &Value, value: &Value) -> Option<String> {
    let choices = choices(field)?;
    if choices.contains(&value) {
        return None;
    }
    let named: Vec<String> = choices.iter().map(|choice| format!("`{}`", plain(choice))).collect();
    Some(format!("must be one of {}", named.join(", ")))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn in_string(field: &Value, text: &str) -> Option<String> {
    let length = text.chars().count() as u64;
    if let Some(least) = whole(field, "minLength").filter(|least| length < *least) {
        return Some(format!("must have at least {least} characters"));
    }
    if let Some(most) = whole(field, "maxLength").filter(|most| length > *most) {
        return Some(format!("must have at most {most} characters"));
    }
    let pattern = field.get("pattern").and_then(Value::as_str);
    let compiled = pattern.and_then(|text| RegexBuilder::new(text).size_limit(PATTERN_BYTES).build().ok());
    if compiled.is_some_and(|pattern| !pattern.is_match(text)) {
        return Some(format!("must match `{}`", pattern.unwrap_or_default()));
    }
    let format = field.get("format").and_then(Value::as_str)?;
    let (fits, what) = match format {
        "email" => (is_email(text), "an email address"),
        "uri" => (url::Url::parse(text).is_ok(), "a URI"),
        "date" => (
            Date::parse(text, format_description!("[year]-[month]-[day]")).is_ok(),
            "a date such as 2026-01-31",
        ),
        "date-time" => (OffsetDateTime::parse(text, &Rfc3339).is_ok(), "a time such as 2026-01-31T12:00:00Z"),
        _ => return None,
    };
    (!fits).then(|| format!("must be {what}"))
}

/// One `@` with something on both sides, a host that can be one, and nothing blank.
fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else { return false };
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    !name.is_empty()
        && !name.chars().any(|c| c.is_whitespace() || c.is_control() || c == '@')
        && host.split('.').all(label)
}

fn in_number(field: &Value, number: f64) -> Option<String> {
    let bound = |name: &str| field.get(name).and_then(Value::as_f64);
    if let Some(least) = bound("minimum").filter(|least| number < *least) {
        return Some(format!("must be at least {least}"));
    }
    if let Some(most) = bound("maximum").filter(|most| number > *most) {
        return Some(format!("must be at most {most}"));
    }
    None
}

fn in_array(field: &Value, items: &[Value]) -> Option<String> {
    let count = items.len() as u64;
    if let Some(least) = whole(field, "minItems").filter(|least| count < *least) {
        return Some(format!("must have at least {least} entries"));
    }
    if let Some(most) = whole(field, "maxItems").filter(|most| count > *most) {
        return Some(format!("must have at most {most} entries"));
    }
    let each = field.get("items")?;
    items.iter().enumerate().find_map(|(at, item)| {
        let problem = wrong(each, item)?;
        Some(format!("entry {} {problem}", at + 1))
    })
}

fn whole(field: &Value, name: &str) -> Option<u64> {
    field.get(name).and_then(Value::as_u64)
}

#[cfg(test)]
mod tests;
