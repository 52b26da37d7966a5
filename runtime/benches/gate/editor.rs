//! An editor on a file of 10,000 lines: from each keystroke to the findings that answer it, through the real protocol.

use super::client::Client;
use super::inputs::Inputs;
use serde_json::json;
use std::time::{Duration, Instant};

/// How many keys are struck.
const KEYS: usize = 50;

/// The time of each keystroke. Every second one undoes the one before, so that the document is broken half of the time.
pub(super) fn keystrokes(inputs: &Inputs) -> Vec<Duration> {
    let text = std::fs::read_to_string(inputs.dir.path().join("editor.yaml")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    // In the middle, where a key of a rule begins.
    let line = (lines.len() / 2..).find(|at| lines[*at].trim_start().starts_with("paths:")).unwrap();
    let column = lines[line].find("paths:").unwrap();
    let (mut client, _) = Client::start(&["utf-8"]);
    let uri = "file:///editor/policy.yaml";
    let opened = client.open(uri, &text);
    assert_eq!(opened["diagnostics"], json!([]), "the document is clean");
    let mut times = Vec::with_capacity(KEYS);
    for key in 0..KEYS {
        let typed = key % 2 == 0;
        let end = if typed { column } else { column + 1 };
        let range =
            json!({"start": {"line": line, "character": column}, "end": {"line": line, "character": end}});
        let change = json!({"range": range, "text": if typed { "x" } else { "" }});
        let version = key + 2;
        let begun = Instant::now();
        client.tell(
            "textDocument/didChange",
            json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]}),
        );
        let found = client.findings();
        times.push(begun.elapsed());
        assert_eq!(found["version"], version, "the findings of this very keystroke");
        let count = found["diagnostics"].as_array().unwrap().len();
        assert_eq!(count > 0, typed, "{found}");
    }
    assert_eq!(client.end(), Some(0));
    times
}
