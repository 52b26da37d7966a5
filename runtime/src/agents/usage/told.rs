//! The places in which agents tell what they used: the answer to a prompt, updates, and what some put into `_meta`.

use serde_json::{Map, Value};

/// Our names, and those under which they come.
const TOKENS: [(&str, &[&str]); 6] = [
    ("input_tokens", &["inputTokens", "input_tokens", "promptTokens", "promptTokenCount"]),
    ("output_tokens", &["outputTokens", "output_tokens", "completionTokens", "candidatesTokenCount"]),
    (
        "thought_tokens",
        &["thoughtTokens", "thought_tokens", "thoughtsTokens", "thoughtsTokenCount", "reasoningTokens"],
    ),
    (
        "cached_read_tokens",
        &["cachedReadTokens", "cached_read_tokens", "cachedTokens", "cachedContentTokenCount"],
    ),
    ("cached_write_tokens", &["cachedWriteTokens", "cached_write_tokens", "cacheWriteTokens"]),
    ("total_tokens", &["totalTokens", "total_tokens", "totalTokenCount"]),
];

/// What the answer to a prompt says of its turn: `usage`, else a known place of `_meta`. Under our names.
#[must_use]
pub fn of_answer(answer: &Value) -> Option<Value> {
    answer.get("usage").and_then(tokens).or_else(|| of_meta(answer))
}

/// What `_meta` of an update or an answer says.
#[must_use]
pub fn of_meta(holder: &Value) -> Option<Value> {
    let meta = holder.get("_meta")?;
    let places = [meta.get("usage"), meta.get("quota").and_then(|quota| quota.get("token_count"))];
    places.into_iter().flatten().find_map(tokens)
}

/// The counts of an object, under our names; nothing where it holds none.
fn tokens(usage: &Value) -> Option<Value> {
    let count = |names: &[&str]| names.iter().find_map(|name| usage.get(*name)?.as_u64());
    let found: Map<String, Value> = TOKENS
        .iter()
        .filter_map(|(ours, theirs)| Some(((*ours).to_owned(), count(theirs)?.into())))
        .collect();
    (!found.is_empty()).then_some(Value::Object(found))
}

#[cfg(test)]
mod tests {
    use super::of_answer;
    use serde_json::json;

    #[test]
    fn every_known_place_is_read() {
        for (answer, wanted) in [
            (
                json!({"usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3, "cachedReadTokens": 4}}),
                Some(
                    json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "cached_read_tokens": 4}),
                ),
            ),
            (
                json!({"_meta": {"quota": {"token_count": {"input_tokens": 5, "output_tokens": 6}}}}),
                Some(json!({"input_tokens": 5, "output_tokens": 6})),
            ),
            (
                json!({"_meta": {"usage": {"promptTokens": 7, "completionTokens": 8, "thoughtsTokens": 9}}}),
                Some(json!({"input_tokens": 7, "output_tokens": 8, "thought_tokens": 9})),
            ),
            (json!({"usage": {"inputTokens": -1}}), None),
            (json!({"usage": "much"}), None),
            (json!(null), None),
        ] {
            assert_eq!(of_answer(&answer), wanted, "{answer}");
        }
    }
}
