//! The report as one JSON document, or as one JSON line a finding.

use super::Report;

/// One document, indented, with a final newline.
pub(in crate::cli) fn document(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}

/// One line a finding (`"type": "finding"`), then one line that sums up (`"type": "summary"`).
pub(in crate::cli) fn lines(report: &Report) -> String {
    let mut out = String::new();
    for finding in &report.findings {
        push(&mut out, "finding", serde_json::to_value(finding).unwrap_or_default());
    }
    let mut rest = report.clone();
    rest.findings.clear();
    rest.endpoints = None;
    let mut summary = serde_json::to_value(rest).unwrap_or_default();
    if let Some(members) = summary.as_object_mut() {
        members.remove("findings");
        members.remove("endpoints");
    }
    push(&mut out, "summary", summary);
    out
}

fn push(out: &mut String, kind: &str, value: serde_json::Value) {
    let mut line = serde_json::Map::new();
    line.insert("type".to_owned(), kind.into());
    if let serde_json::Value::Object(members) = value {
        line.extend(members);
    }
    out.push_str(&serde_json::Value::Object(line).to_string());
    out.push('\n');
}
