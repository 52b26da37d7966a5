//! Known secrets, looked for in every text that leaves the agents' rooms.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock};

/// Shortest value that is looked for: anything shorter would be found by chance.
const SHORTEST: usize = 4;

/// Every secret that an agent was ever given, so that none comes back in a log or an event.
#[derive(Default)]
pub struct Masks(RwLock<Vec<String>>);

impl Masks {
    /// Remembers a value, also as it looks inside JSON, and each of its lines.
    pub fn add(&self, value: &str) {
        let mut spellings = BTreeSet::new();
        for part in std::iter::once(value).chain(value.lines()) {
            let part = part.trim();
            let quoted = serde_json::Value::from(part).to_string();
            let inside = quoted.trim_matches('"');
            spellings.extend([part.to_owned(), inside.to_owned()]);
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for spelling in spellings {
            if spelling.len() >= SHORTEST && !known.contains(&spelling) {
                known.push(spelling);
            }
        }
        // One that holds another goes first, or its rest would stay.
        known.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
    }

    /// The text with every known secret replaced.
    #[must_use]
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut masked = Cow::Borrowed(text);
        for secret in known.iter() {
            if masked.contains(secret.as_str()) {
                masked = Cow::Owned(masked.replace(secret.as_str(), "***"));
            }
        }
        masked
    }

    /// The beginning of a text with every known secret replaced, and its end as it is, as far as that may be the beginning
    /// of a secret. Unlike [`Self::mask`] from left to right, so that it does not matter where a text was cut.
    pub(super) fn begun<'a>(&self, text: &'a str) -> (Cow<'a, str>, &'a str) {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let begins =
            |rest: &str| known.iter().any(|secret| secret.len() > rest.len() && secret.starts_with(rest));
        let longest = known.first().map_or(0, String::len);
        let near = text.len().saturating_sub(longest.saturating_sub(1));
        let mut ends = text.char_indices().rev().map(|(at, _)| at).take_while(|at| *at >= near);
        let open = ends.any(|at| text.get(at..).is_some_and(begins));
        if !open && !known.iter().any(|secret| text.contains(secret.as_str())) {
            return (Cow::Borrowed(text), "");
        }
        let (mut sure, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(first) = rest.chars().next() {
            if begins(rest) {
                break;
            }
            // The longest comes first.
            let found = known.iter().find_map(|secret| rest.strip_prefix(secret.as_str()));
            let skipped = rest.get(first.len_utf8()..).unwrap_or_default();
            match found {
                Some(_) => sure.push_str("***"),
                None => sure.push(first),
            }
            rest = found.unwrap_or(skipped);
        }
        (Cow::Owned(sure), rest)
    }

    /// The JSON with every known secret replaced in its texts; names of members too.
    pub fn mask_json(&self, value: &mut serde_json::Value) {
        use serde_json::Value;
        if self.0.read().unwrap_or_else(PoisonError::into_inner).is_empty() {
            return;
        }
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.mask(text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_json(item)),
            Value::Object(members) => {
                let secret = members.keys().any(|name| matches!(self.mask(name), Cow::Owned(_)));
                if secret {
                    let old = std::mem::take(members);
                    members
                        .extend(old.into_iter().map(|(name, value)| (self.mask(&name).into_owned(), value)));
                }
                members.values_mut().for_each(|member| self.mask_json(member));
            }
            _ => {}
        }
    }
}

impl std::fmt::Debug for Masks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Masks")
    }
}

#[cfg(test)]
mod tests {
    use super::Masks;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn secrets_are_found_in_every_spelling() {
        let masks = Masks::default();
        masks.add("canary\"quoted\nsecond-line");
        masks.add("can");
        assert_eq!(masks.mask("a canary\"quoted b"), "a *** b");
        assert_eq!(masks.mask(r#"{"a":"canary\"quoted\nsecond-line"}"#), r#"{"a":"***"}"#);
        assert_eq!(masks.mask("second-line can"), "*** can");
        let mut value = json!({"a": ["x second-line"], "second-line": 1});
        masks.mask_json(&mut value);
        assert_eq!(value, json!({"a": ["x ***"], "***": 1}));
    }

    proptest! {
        #[test]
        fn no_secret_survives(secrets in prop::collection::vec("[a-c]{4,8}", 1..4), text in "[a-c]{0,60}") {
            let masks = Masks::default();
            for secret in &secrets {
                masks.add(secret);
            }
            let masked = masks.mask(&text).into_owned();
            for secret in &secrets {
                prop_assert!(!masked.contains(secret.as_str()));
            }
        }
    }
}
