//! What a page has said: its console, its uncaught errors, and what was done to it on the caller's behalf. Bounded;
//! reading clears it.

use super::cdp::Remote;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Most lines that are kept; the oldest make room.
const MOST_LINES: usize = 1000;

/// Most bytes of one line.
const LONGEST: usize = 8 * 1024;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// `log`, `warning`, `error`, …; `dialog` and `popup` for what was closed unseen.
    pub r#type: String,
    /// What it says.
    pub text: String,
    /// When, in seconds since 1970.
    pub timestamp: f64,
}

/// The lines of one identity.
#[derive(Debug, Default)]
pub struct Console(Mutex<Lines>);

#[derive(Debug, Default)]
struct Lines {
    lines: VecDeque<Line>,
    dropped: u64,
}

impl Console {
    /// Adds a line.
    pub(super) fn add(&self, kind: &str, text: &str, milliseconds: Option<f64>) {
        let timestamp = milliseconds.map_or_else(now, |time| (time / 1000.0 * 1e6).round() / 1e6);
        let text = cut(text, LONGEST).to_owned();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.lines.len() == MOST_LINES {
            all.lines.pop_front();
            all.dropped += 1;
        }
        all.lines.push_back(Line { r#type: kind.to_owned(), text, timestamp });
    }

    /// Takes all lines, oldest first, and how many were dropped before them.
    #[must_use]
    pub fn take(&self) -> (Vec<Line>, u64) {
        let taken = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        (taken.lines.into(), taken.dropped)
    }
}

/// The first `most` bytes, less what is left of a character that they would cut.
pub(super) fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

fn now() -> f64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

/// `Runtime.consoleAPICalled`.
#[derive(Debug, Deserialize)]
pub(super) struct Called {
    r#type: String,
    args: Vec<Remote>,
    timestamp: f64,
}

/// `Runtime.exceptionThrown`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thrown {
    timestamp: f64,
    exception_details: Exception,
}

/// What was thrown.
#[derive(Debug, Deserialize)]
pub(super) struct Exception {
    /// `Uncaught`, `Uncaught (in promise)`.
    pub(super) text: String,
    /// The value.
    pub(super) exception: Option<Remote>,
}

/// `Log.entryAdded`: what the browser itself says about the page.
#[derive(Debug, Deserialize)]
pub(super) struct Added {
    entry: Entry,
}

#[derive(Debug, Deserialize)]
struct Entry {
    level: String,
    text: String,
    timestamp: f64,
    url: Option<String>,
}

impl Console {
    /// A call of `console`.
    pub(super) fn called(&self, call: &Called) {
        let words: Vec<String> = call.args.iter().map(shown).collect();
        self.add(&call.r#type, &words.join(" "), Some(call.timestamp));
    }

    /// An error that nobody caught.
    pub(super) fn thrown(&self, thrown: &Thrown) {
        let details = &thrown.exception_details;
        let text = details.exception.as_ref().map_or_else(String::new, shown);
        self.add("error", format!("{} {text}", details.text).trim_end(), Some(thrown.timestamp));
    }

    /// A remark of the browser's own.
    pub(super) fn added(&self, added: &Added) {
        let entry = &added.entry;
        // The browser asks for it by itself; no page did.
        if entry.url.as_deref().is_some_and(|url| url.ends_with("/favicon.ico")) {
            return;
        }
        let kind = if entry.level == "verbose" { "debug" } else { &entry.level };
        match entry.url.as_deref().filter(|url| !url.is_empty() && !entry.text.contains(url)) {
            Some(url) => self.add(kind, &format!("{} {url}", entry.text), Some(entry.timestamp)),
            None => self.add(kind, &entry.text, Some(entry.timestamp)),
        }
    }
}

/// A value as the console of a person's browser would show it in one line.
pub(super) fn shown(value: &Remote) -> String {
    if let Some(text) = &value.unserializable_value {
        return text.clone();
    }
    if value.subtype.as_deref() == Some("null") {
        return "null".to_owned();
    }
    match &value.value {
        Some(serde_json::Value::String(text)) => return text.clone(),
        Some(other) => return other.to_string(),
        None => {}
    }
    let Some(preview) = value.preview.as_ref().filter(|_| value.subtype.as_deref() != Some("error")) else {
        return value.description.clone().unwrap_or_else(|| value.r#type.clone());
    };
    let is_array = preview.subtype.as_deref() == Some("array");
    let described = preview.description.as_deref().unwrap_or_default();
    if !is_array && (described != "Object" || preview.subtype.is_some()) {
        return described.to_owned();
    }
    let member = |property: &super::cdp::Property| {
        let text = property.value.as_deref().unwrap_or(&property.r#type);
        let text = if property.r#type == "string" { format!("{text:?}") } else { text.to_owned() };
        if is_array { text } else { format!("{}: {text}", property.name) }
    };
    let mut members: Vec<String> = preview.properties.iter().map(member).collect();
    members.extend(preview.overflow.then(|| "…".to_owned()));
    let members = members.join(", ");
    if is_array { format!("[{members}]") } else { format!("{{{members}}}") }
}

#[cfg(test)]
mod tests {
    use super::{Console, LONGEST, MOST_LINES, shown};
    use serde_json::json;

    #[test]
    fn the_oldest_lines_make_room_and_reading_clears() {
        let console = Console::default();
        for number in 0..MOST_LINES + 5 {
            console.add("log", &number.to_string(), Some(1500.0));
        }
        let (lines, dropped) = console.take();
        assert_eq!((lines.len(), dropped), (MOST_LINES, 5));
        assert_eq!(lines[0].text, "5");
        assert_eq!(lines[0].timestamp, 1.5);
        assert_eq!(console.take(), (Vec::new(), 0));
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let console = Console::default();
        console.add("log", &"中".repeat(LONGEST), None);
        assert_eq!(console.take().0[0].text.len(), LONGEST / 3 * 3);
    }

    #[test]
    fn values_are_shown_in_one_line() {
        for (value, wanted) in [
            (json!({"type": "string", "value": "a"}), "a"),
            (json!({"type": "number", "unserializableValue": "NaN"}), "NaN"),
            (json!({"type": "undefined"}), "undefined"),
            (json!({"type": "object", "subtype": "null", "value": null}), "null"),
            (
                json!({"type": "object", "description": "Object", "preview": {"description": "Object", "overflow": true,
                    "properties": [{"name": "a", "type": "string", "value": "x"}, {"name": "b", "type": "number", "value": "1"}]}}),
                "{a: \"x\", b: 1, …}",
            ),
            (
                json!({"type": "object", "subtype": "array", "description": "Array(1)", "preview": {"subtype": "array",
                    "description": "Array(1)", "properties": [{"name": "0", "type": "number", "value": "1"}]}}),
                "[1]",
            ),
            (
                json!({"type": "object", "subtype": "error", "description": "Error: x\n at y"}),
                "Error: x\n at y",
            ),
        ] {
            assert_eq!(shown(&serde_json::from_value(value).unwrap()), wanted);
        }
    }
}
