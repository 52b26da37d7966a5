//! Policies of any size, for the benchmarks.

use std::fmt::Write as _;

use policy_lang::endpoint::ENDPOINTS;

/// Sizes to measure, in bytes.
pub(crate) const SIZES: [usize; 3] = [1_000, 100_000, 10_000_000];

/// A policy of about `bytes`: every endpoint with a rule, and as many denied paths as it takes.
pub(crate) fn json(bytes: usize) -> String {
    let patterns = (bytes / ENDPOINTS.len()).saturating_sub(90) / 26;
    let mut text = String::from("{\"preset\": \"hardened\", \"endpoints\": {");
    for (at, endpoint) in ENDPOINTS.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(
            text,
            "{comma}\"{}\":{{\"enabled\":true,\"paths\":{{\"deny\":[\"**/.git/**\"",
            endpoint.name
        );
        for pattern in 0..patterns {
            let _ = write!(text, ",\"/home/user/{pattern:08}/**\"");
        }
        text.push_str("]},\"limits\":{\"max_bytes\":\"5MB\",\"rate_per_minute\":60}}");
        if text.len() >= bytes {
            break;
        }
    }
    text.push_str("}}");
    text
}

/// The same in YAML.
pub(crate) fn yaml(bytes: usize) -> String {
    let value: serde_json::Value = serde_json::from_str(&json(bytes)).unwrap_or_default();
    serde_yaml::to_string(&value).unwrap_or_default()
}
