//! An answer as a file of a story shows it: what differs from run to run has a name instead.

use regex::Regex;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Members whose values are of one run alone.
const OF_ONE_RUN: [&str; 10] = [
    "ms",
    "pid",
    "rss_bytes",
    "bytes_freed",
    "score",
    "next_cursor",
    "content_base64",
    "ws_url",
    "pty_session_id",
    "gseq",
];

/// Times of no later than the year 2100 and no earlier than 2001.
const TIMES: std::ops::Range<f64> = 1e9..4.1e9;

/// What was named so far.
pub struct Names {
    /// From a name in braces to what it stands for.
    kept: BTreeMap<String, String>,
    /// Identities in the order in which they came up.
    seen: Vec<String>,
    id: Regex,
    native: Regex,
    /// A time within a text.
    time: Regex,
    hidden: BTreeSet<String>,
}

impl Names {
    pub fn new(base: &Path, agent: &str) -> Self {
        let dir = base.parent().unwrap();
        let kept = [
            ("base", base.display().to_string()),
            ("dir", dir.display().to_string()),
            ("agent", agent.to_owned()),
        ];
        Self {
            kept: kept.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            seen: Vec::new(),
            id: Regex::new(
                r"\b(ses|trn|itm|req|rul|chk|art|prc|sch|whk|ins|evt|dlv|term)_[0-9A-HJKMNP-TV-Z]{26}\b",
            )
            .unwrap(),
            native: Regex::new(r"\bnative-\d+-(\d+)\b").unwrap(),
            time: Regex::new(r"\b[1-3]\d{9}\.\d+\b").unwrap(),
            hidden: OF_ONE_RUN.map(str::to_owned).into(),
        }
    }

    /// Members of these names are not shown.
    pub fn hide<'a>(&mut self, members: impl IntoIterator<Item = &'a str>) {
        self.hidden.extend(members.into_iter().map(str::to_owned));
    }

    /// `{name}` stands for this from now on.
    pub fn keep(&mut self, name: &str, value: &str) {
        self.kept.insert(name.to_owned(), value.to_owned());
    }

    /// A text with what its names stand for.
    pub fn text(&self, text: &str) -> String {
        let fill =
            |text: String, (name, value): (&String, &String)| text.replace(&format!("{{{name}}}"), value);
        self.kept.iter().fold(text.to_owned(), fill)
    }

    /// The same of every text of a value.
    pub fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Array(all) => all.iter().map(|one| self.filled(one)).collect(),
            Value::Object(all) => all.iter().map(|(name, one)| (self.text(name), self.filled(one))).collect(),
            other => other.clone(),
        }
    }

    /// A value as it is shown.
    pub fn shown(&mut self, value: Value) -> String {
        let value = self.named("", value);
        serde_json::to_string_pretty(&value).unwrap()
    }

    fn named(&mut self, member: &str, value: Value) -> Value {
        match value {
            Value::Null => Value::Null,
            _ if self.hidden.contains(member) => format!("<{member}>").into(),
            Value::Number(number) if number.as_f64().is_some_and(|time| TIMES.contains(&time)) => {
                "<time>".into()
            }
            Value::String(text) => self.named_text(&text).into(),
            Value::Array(all) => all.into_iter().map(|one| self.named("", one)).collect(),
            Value::Object(all) => {
                let mut named = Map::new();
                for (name, one) in all {
                    let one = self.named(&name, one);
                    named.insert(self.named_text(&name), one);
                }
                named.into()
            }
            other => other,
        }
    }

    fn named_text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for name in ["agent", "base", "dir"] {
            text = text.replace(&self.kept[name], &format!("{{{name}}}"));
        }
        let text = self.native.replace_all(&text, "native-$1");
        let text = self.time.replace_all(&text, "<time>").into_owned();
        let found: Vec<String> = self.id.find_iter(&text).map(|found| found.as_str().to_owned()).collect();
        let mut named = text;
        for id in found {
            let at = self.seen.iter().position(|seen| *seen == id).unwrap_or_else(|| {
                self.seen.push(id.clone());
                self.seen.len() - 1
            });
            named = named.replace(&id, &format!("<{} {}>", id.split('_').next().unwrap(), at + 1));
        }
        named
    }
}
