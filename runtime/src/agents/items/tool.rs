//! What tool calls are made of: texts, diffs, terminals.

use serde_json::{Map, Value, json};

/// Members of a call's event that its body keeps; later ones replace earlier ones.
pub(super) const BODY: [&str; 5] = ["content", "locations", "raw_input", "raw_output", "_meta"];

/// The texts that a call has shown.
pub(super) fn text(body: &Map<String, Value>) -> String {
    let texts = blocks(body).filter_map(|entry| {
        let block = entry.get("content")?;
        block.get("text").or_else(|| block.get("resource")?.get("text"))?.as_str()
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The diffs that it has shown.
pub(super) fn diffs(body: &Map<String, Value>) -> Vec<Value> {
    let diff = |entry: &Value| {
        (entry.get("type")?.as_str()? == "diff").then(|| {
            json!({"path": entry.get("path"), "old_text": entry.get("oldText"), "new_text": entry.get("newText")})
        })
    };
    blocks(body).filter_map(diff).collect()
}

/// The terminal that it ran in.
pub(super) fn terminal_id(body: &Map<String, Value>) -> Option<&str> {
    blocks(body)
        .filter(|entry| entry.get("type").and_then(Value::as_str) == Some("terminal"))
        .find_map(|entry| entry.get("terminalId").or_else(|| entry.get("terminal_id"))?.as_str())
}

/// What a call is found by whoever looks: its title, its command, the files that it names.
pub(in crate::agents) fn named(title: &str, body: &Map<String, Value>) -> String {
    let places = body.get("locations").and_then(Value::as_array).into_iter().flatten();
    let paths = places.filter_map(|place| place.get("path")?.as_str()).map(str::to_owned);
    let all: Vec<String> = [title.to_owned()].into_iter().chain(command(body)).chain(paths).collect();
    all.join("\n")
}

/// What of a call came out of files: what it showed, and its diffs.
pub(in crate::agents) fn of_files(body: &Map<String, Value>, shown: String) -> String {
    let mut all = vec![shown];
    for diff in diffs(body) {
        let text = |name: &str| diff.get(name).and_then(Value::as_str).map(str::to_owned);
        all.extend([text("path"), text("new_text"), text("old_text")].into_iter().flatten());
    }
    all.join("\n")
}

/// The command of its input, where there is one.
fn command(body: &Map<String, Value>) -> Option<String> {
    match body.get("raw_input")?.get("command")? {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        _ => None,
    }
}

fn blocks(body: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    body.get("content").and_then(Value::as_array).into_iter().flatten()
}
