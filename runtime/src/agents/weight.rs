//! About how much memory a JSON value takes: what queues of values are bounded by.

use serde_json::Value;

/// The texts of a value, which are nearly all of it, and something for each of its parts.
#[must_use]
pub fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 24,
        Value::Array(values) => values.iter().map(weight).sum::<usize>() + 24,
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + 48 + weight(value)).sum(),
        _ => 16,
    }
}

#[cfg(test)]
mod tests {
    use super::weight;
    use serde_json::json;

    #[test]
    fn texts_weigh_what_they_are_long() {
        assert_eq!(weight(&json!("abc")), 27);
        assert_eq!(weight(&json!([1, null, "abc"])), 24 + 16 + 16 + 27);
        assert_eq!(weight(&json!({"name": {"deep": "x".repeat(1000)}})), 4 + 48 + 4 + 48 + 1024);
    }
}
