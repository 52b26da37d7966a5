//! Texts of a document as they may be shown: what stands under a key that is named for a secret is not.
//!
//! A policy holds no secrets, but a secret pasted under the wrong key is just what a finding points at, and findings end
//! up in logs. Every byte of it becomes `*`, so that columns hold.

use std::ops::Range;

/// What a key speaks of when its value is a secret.
const WORDS: [&str; 8] =
    ["token", "secret", "password", "passwd", "credential", "bearer", "api_key", "apikey"];

/// The line with secrets as stars, byte for byte as long.
#[must_use]
pub fn masked(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut at = 0;
    for hidden in secrets(line) {
        out.push_str(line.get(at..hidden.start).unwrap_or_default());
        out.extend(std::iter::repeat_n('*', hidden.len()));
        at = hidden.end;
    }
    out.push_str(line.get(at..).unwrap_or_default());
    out
}

/// The name of a variable, unless it rather looks like the secret that the variable should hold.
#[must_use]
pub fn variable(name: &str) -> &str {
    if is_name(name) { name } else { "…" }
}

/// Names are written in capitals; a long row of capitals and digits without a break is a key.
fn is_name(text: &str) -> bool {
    let capitals = text.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'));
    let broken = text.split('_').all(|part| part.len() <= 16);
    capitals && broken && !text.is_empty()
}

/// A digest is no secret, nor is one that was written a little wrong; anything else in its place may be one.
fn is_digest(value: &str) -> bool {
    let digits = value.trim().trim_start_matches("sha256:");
    (56..=72).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Where values of secret keys stand.
fn secrets(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(colon) = line.get(from..).and_then(|rest| rest.find(':')).map(|at| from + at) {
        from = colon + 1;
        let (before, after) = (line.get(..colon).unwrap_or_default(), line.get(from..).unwrap_or_default());
        let Some(value) = value(after, before.contains('{')) else { continue };
        let value = from + value.start..from + value.end;
        if hides(key(before), line.get(value.clone()).unwrap_or_default()) {
            from = value.end;
            found.push(value);
        }
    }
    found
}

/// The word that ends a text, quotes and blanks aside.
fn key(before: &str) -> &str {
    let before = before.trim_end().trim_end_matches(['"', '\'']);
    let begin = before.rfind(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    begin.map_or(before, |at| {
        before.get(at..).unwrap_or_default().trim_start_matches(|c: char| !c.is_alphanumeric())
    })
}

/// Where the scalar at the beginning of a text is, without its quotes; none where a list or mapping begins.
fn value(after: &str, flow: bool) -> Option<Range<usize>> {
    let begin = after.len() - after.trim_start().len();
    let text = after.get(begin..)?;
    let quote = text.chars().next()?;
    let length = match quote {
        '[' | '{' | '|' | '>' => return None,
        '"' | '\'' => {
            let inner = text.get(1..)?;
            return Some(begin + 1..begin + 1 + closing(inner, quote));
        }
        _ if flow => text.find([',', '}', ']']).unwrap_or(text.len()),
        _ => text.find(" #").unwrap_or(text.len()),
    };
    let length = text.get(..length)?.trim_end().len();
    (length > 0).then_some(begin..begin + length)
}

/// Where the quote is that closes; the end of the text without one.
fn closing(inner: &str, quote: char) -> usize {
    let mut escaped = false;
    let end = inner.char_indices().find(|(_, character)| {
        let closes = *character == quote && !escaped;
        escaped = quote == '"' && *character == '\\' && !escaped;
        closes
    });
    end.map_or(inner.len(), |(at, _)| at)
}

/// Whether a key's value is not to be shown.
fn hides(key: &str, value: &str) -> bool {
    let key = key.to_ascii_lowercase().replace('-', "_");
    match key.as_str() {
        "token_env" => !is_name(value),
        "token_sha256" => !is_digest(value),
        _ => WORDS.iter().any(|word| key.contains(word)),
    }
}

#[cfg(test)]
mod tests {
    use super::{masked, variable};

    #[test]
    fn values_of_secret_keys_are_stars() {
        for (line, shown) in [
            ("      token: \"a b\"", "      token: \"***\""),
            ("  token: a, b # why", "  token: **** # why"),
            ("token_env: ghp_abc", "token_env: *******"),
            ("token_env: CI_TOKEN", "token_env: CI_TOKEN"),
            ("token_env: AKIAIOSFODNN7EXAMPLE", "token_env: ********************"),
            ("token_sha256: 'hunter2'", "token_sha256: '*******'"),
            (r#"{"id":"ci","token":"a\"b","scopes":["x"]}"#, r#"{"id":"ci","token":"****","scopes":["x"]}"#),
            ("{id: ci, api-key: abc, scopes: []}", "{id: ci, api-key: ***, scopes: []}"),
            ("tokens: [{id: ci, password: é}]", "tokens: [{id: ci, password: **}]"),
            ("auth: {tokens: []}", "auth: {tokens: []}"),
            ("  paths: {allow: [a]}", "  paths: {allow: [a]}"),
            ("token:", "token:"),
            ("url: http://x:1", "url: http://x:1"),
        ] {
            assert_eq!(masked(line), shown);
            assert_eq!(masked(line).len(), line.len());
        }
        let digest = format!("token_sha256: {}", "0f".repeat(32));
        assert_eq!(masked(&digest), digest);
    }

    #[test]
    fn a_variable_is_named_unless_it_is_a_secret() {
        for (name, shown) in
            [("CI_TOKEN", "CI_TOKEN"), ("ghp_x", "…"), ("AKIAIOSFODNN7EXAMPLE", "…"), ("", "…")]
        {
            assert_eq!(variable(name), shown);
        }
    }
}
