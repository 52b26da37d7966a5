//! A command for display: what stands behind a flag or name that speaks of a secret is not shown.

/// The words as one line, secrets replaced by `***`. Words are quoted only where a shell would need it.
#[must_use]
pub fn display(words: &[String]) -> String {
    let mut shown = Vec::with_capacity(words.len());
    let mut hide_next = false;
    for (number, word) in words.iter().enumerate() {
        let hidden = std::mem::take(&mut hide_next);
        if hidden && !word.starts_with('-') {
            shown.push("***".to_owned());
            continue;
        }
        match word.split_once('=') {
            Some((name, _)) if speaks_of_a_secret(name) => shown.push(format!("{name}=***")),
            _ => {
                hide_next = number > 0 && word.starts_with('-') && speaks_of_a_secret(word);
                shown.push(quoted(&without_credentials(word)));
            }
        }
    }
    shown.join(" ")
}

/// Whether a flag or variable is named for a secret.
fn speaks_of_a_secret(name: &str) -> bool {
    const WORDS: [&str; 8] =
        ["token", "secret", "password", "passwd", "credential", "api-key", "api_key", "apikey"];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word)) || name.ends_with("-key") || name.ends_with("_key")
}

/// A header or URL that carries a credential, without it.
fn without_credentials(word: &str) -> String {
    let lower = word.to_ascii_lowercase();
    if let Some((name, _)) = word.split_once(':')
        && (lower.starts_with("authorization:")
            || lower.starts_with("x-access-token:")
            || lower.starts_with("x-api-key:"))
    {
        return format!("{name}: ***");
    }
    super::environment::without_password(word)
}

/// The word as a shell would have to be given it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=,+@%^*".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\"'\"'"))
    }
}

#[cfg(test)]
mod tests {
    use super::display;

    // security 155
    #[test]
    fn secrets_are_masked_and_the_rest_is_as_it_was() {
        for (line, shown) in [
            ("deploy --token=abc --to prod", "deploy --token=*** --to prod"),
            ("deploy --password abc -v", "deploy --password *** -v"),
            ("curl -H 'Authorization: Bearer abc' x", "curl -H 'Authorization: ***' x"),
            ("git clone https://u:p@h/r", "git clone https://u:***@h/r"),
            ("env API_KEY=x true", "env API_KEY=*** true"),
            ("sleep 60", "sleep 60"),
            ("sh -c 'echo a; echo b'", "sh -c 'echo a; echo b'"),
            ("printf ''", "printf ''"),
        ] {
            let words = super::super::words::split(line).unwrap();
            assert_eq!(display(&words), shown);
        }
    }
}
