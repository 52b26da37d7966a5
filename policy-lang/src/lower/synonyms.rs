//! Words that people write for a key that is called otherwise, too far from its name for a spelling to find it.

use super::words::Level;

/// One word, where it stands, and what to write instead.
struct Row(&'static str, Level, &'static str);

const RULE: Level = Level::Rule;
const PATHS: Level = Level::Section("paths");
const LIMITS: Level = Level::Section("limits");
const CLOSES: &str = "a rule closes an endpoint with `enabled: false`";
const OPENS: &str = "a rule opens an endpoint with `enabled: true`";
const LINKS: &str = "what happens to links is said by `symlinks`: `deny` or `within`";

const ROWS: &[Row] = &[
    Row("denied", RULE, CLOSES),
    Row("disabled", RULE, CLOSES),
    Row("disable", RULE, CLOSES),
    Row("blocked", RULE, CLOSES),
    Row("block", RULE, CLOSES),
    Row("forbidden", RULE, CLOSES),
    Row("off", RULE, CLOSES),
    Row("allowed", RULE, OPENS),
    Row("open", RULE, OPENS),
    Row("on", RULE, OPENS),
    Row("followed", PATHS, LINKS),
    Row("follow", PATHS, LINKS),
    Row("links", PATHS, LINKS),
    Row("include", PATHS, "paths that may be touched are listed under `allow`"),
    Row("exclude", PATHS, "paths that may not be touched are listed under `deny`"),
    Row("ignore", PATHS, "paths that may not be touched are listed under `deny`"),
    Row("writable", PATHS, "paths that may be read but not changed are listed under `read_only`"),
    Row(
        "max_size",
        LIMITS,
        "the largest file or transfer is `max_bytes`, the largest request `max_request_bytes`",
    ),
    Row("parallel", LIMITS, "calls at the same time are bounded by `max_concurrency`"),
    Row("rps", LIMITS, "calls over time are bounded by `rate_per_minute`"),
    Row("requests_per_minute", LIMITS, "calls over time are bounded by `rate_per_minute`"),
];

/// What to write instead of `word`.
pub(super) fn help(word: &str, level: Level) -> Option<&'static str> {
    ROWS.iter().find(|row| row.1 == level && row.0.eq_ignore_ascii_case(word)).map(|row| row.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_is_a_key_and_each_stands_once() {
        for (at, Row(word, level, _)) in ROWS.iter().enumerate() {
            assert!(!level.keys().contains(word), "{word} is a key");
            assert!(!ROWS.iter().skip(at + 1).any(|row| row.0 == *word && row.1 == *level), "{word} twice");
        }
    }

    #[test]
    fn a_word_counts_at_its_level() {
        assert_eq!(help("Denied", Level::Rule), Some(CLOSES));
        assert_eq!(help("denied", Level::Document), None);
    }
}
