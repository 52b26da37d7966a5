//! Values as a person reads them.

use crate::endpoint::{KEYS, Key, KeyKind};
use crate::resolved::ResolvedValue;
use std::borrow::Cow;

/// A value on one line. Sizes are bytes with the round unit beside, long lists are cut.
#[must_use]
pub fn value(key: Key, value: &ResolvedValue) -> String {
    match value {
        ResolvedValue::Bool(value) => value.to_string(),
        ResolvedValue::Word(word) => word.clone(),
        ResolvedValue::Number(number) => match KEYS.get(key.index()).map(|decl| decl.kind) {
            Some(KeyKind::Size) => bytes(*number),
            Some(KeyKind::Duration) => format!("{number} s"),
            _ => number.to_string(),
        },
        ResolvedValue::List(list) => {
            const SHOWN: usize = 8;
            let mut shown: Vec<&str> = list.values().take(SHOWN).collect();
            let more = format!("… {} more", list.len().saturating_sub(SHOWN));
            if list.len() > SHOWN {
                shown.push(&more);
            }
            format!("[{}]", shown.join(", "))
        }
    }
}

/// `5000000 bytes (5 MB)`: the number that is compared, and the unit where it is a round one.
pub(super) fn bytes(number: u64) -> String {
    const UNITS: [(&str, u64); 8] = [
        ("TiB", 1 << 40),
        ("TB", 1_000_000_000_000),
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
        ("MiB", 1 << 20),
        ("MB", 1_000_000),
        ("KiB", 1 << 10),
        ("KB", 1_000),
    ];
    let round = UNITS.iter().find(|(_, size)| number >= *size && number.is_multiple_of(*size));
    let unit = if number == 1 { "byte" } else { "bytes" };
    match round {
        Some((name, size)) => format!("{number} {unit} ({} {name})", number / size),
        None => format!("{number} {unit}"),
    }
}

/// What a relative path pattern stands for; none where it is absolute as written.
#[must_use]
pub(super) fn absolute_form(key: Key, pattern: &str, base_dir: &str) -> Option<String> {
    if !matches!(key, Key::PathsAllow | Key::PathsDeny | Key::PathsReadOnly) || pattern.starts_with('/') {
        return None;
    }
    if pattern.starts_with("**/") {
        return None;
    }
    if key == Key::PathsDeny && !pattern.contains('/') {
        return Some(format!("**/{pattern}"));
    }
    let rest = pattern.trim_start_matches("./").trim_end_matches('/');
    let base = base_dir.trim_end_matches('/');
    Some(if rest.is_empty() || rest == "." { base.to_owned() } else { format!("{base}/{rest}") })
}

/// The pattern from the root on: what it stands for, or itself where it is absolute as written.
#[must_use]
pub fn absolute<'a>(key: Key, pattern: &'a str, base_dir: &str) -> Cow<'a, str> {
    absolute_form(key, pattern, base_dir).map_or(Cow::Borrowed(pattern), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_show_the_number_that_is_compared() {
        assert_eq!(bytes(5_000_000), "5000000 bytes (5 MB)");
        assert_eq!(bytes(5 << 20), "5242880 bytes (5 MiB)");
        assert_eq!(bytes(1_500), "1500 bytes");
        assert_eq!(bytes(1), "1 byte");
    }

    #[test]
    fn relative_patterns_show_where_they_start() {
        let form = |key, pattern| absolute_form(key, pattern, "/home/user");
        assert_eq!(form(Key::PathsAllow, "out/**").as_deref(), Some("/home/user/out/**"));
        assert_eq!(form(Key::PathsAllow, ".").as_deref(), Some("/home/user"));
        assert_eq!(form(Key::PathsDeny, ".env").as_deref(), Some("**/.env"));
        assert_eq!(form(Key::PathsDeny, "a/.env").as_deref(), Some("/home/user/a/.env"));
        assert_eq!(form(Key::PathsDeny, "**/.git/**"), None);
        assert_eq!(form(Key::PathsAllow, "/srv"), None);
        assert_eq!(form(Key::ParamsLanguages, "bash"), None);
    }
}
