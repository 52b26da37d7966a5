//! Findings as SARIF 2.1.0, for code-scanning views. Only the members that we fill are modelled.

use super::{EditView, Finding, PlaceView, Report};
use policy_lang::diag::Code;
use policy_lang::diff::accept;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The document, indented, with a final newline.
pub(in crate::cli) fn render(report: &Report) -> String {
    let mut codes: BTreeMap<&str, Value> = BTreeMap::new();
    for finding in &report.findings {
        codes.entry(finding.code).or_insert_with(|| rule(finding.code));
    }
    let index: Vec<&str> = codes.keys().copied().collect();
    let results: Vec<Value> = report.findings.iter().map(|finding| result(finding, &index)).collect();
    let notifications: Vec<Value> = report
        .message
        .iter()
        .map(|message| json!({"level": "error", "message": {"text": message}}))
        .chain(report.skipped_checks.iter().map(|skipped| {
            json!({"level": "note", "message": {"text": format!("not checked: {}: {}", skipped.check, skipped.why)}})
        }))
        .collect();
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "agent-sandbox-server",
                "version": report.tool_version,
                "rules": codes.into_values().collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": !matches!(report.verdict, "usage" | "unreadable" | "internal"),
                "exitCode": report.exit_code,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    });
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

/// What a comparison of policies reports beside the codes of the language.
const COMPARISON: [(&str, &str); 3] = [
    ("widened", "a call is permitted that was refused"),
    ("reshaped", "other calls are permitted than before"),
    ("narrowed", "a call is refused that was permitted"),
];

fn rule(code: &str) -> Value {
    let of_comparison = COMPARISON.iter().chain(&accept::CODES).find(|(known, _)| *known == code);
    let description = match Code::from_name(code) {
        Some(code) => policy_lang::diag::page(code).summary,
        None => of_comparison.map_or("", |(_, description)| description),
    };
    json!({"id": code, "shortDescription": {"text": description}})
}

fn result(finding: &Finding, index: &[&str]) -> Value {
    let text = match &finding.help {
        Some(help) => format!("{}. {help}", finding.message),
        None => finding.message.clone(),
    };
    let mut result = json!({
        "ruleId": finding.code,
        "ruleIndex": index.iter().position(|code| *code == finding.code),
        "level": match finding.level { "info" => "note", level => level },
        "message": {"text": text},
        "locations": finding.primary.iter().map(|place| json!({"physicalLocation": physical(place)})).collect::<Vec<_>>(),
    });
    let related: Vec<Value> = (finding.related.iter().enumerate())
        .map(|(id, related)| {
            json!({"id": id, "physicalLocation": physical(&related.place), "message": {"text": related.message}})
        })
        .collect();
    let fixes: Vec<Value> = (finding.suggestions.iter())
        .map(|fix| json!({"description": {"text": fix.message}, "artifactChanges": changes(&fix.edits)}))
        .collect();
    if let Some(members) = result.as_object_mut() {
        if !related.is_empty() {
            members.insert("relatedLocations".to_owned(), related.into());
        }
        if !fixes.is_empty() {
            members.insert("fixes".to_owned(), fixes.into());
        }
    }
    result
}

fn physical(place: &PlaceView) -> Value {
    json!({
        "artifactLocation": {"uri": uri(&place.file)},
        "region": {
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
            "byteOffset": place.byte_start,
            "byteLength": place.byte_end.saturating_sub(place.byte_start),
        },
    })
}

fn changes(edits: &[EditView]) -> Vec<Value> {
    let mut files: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for edit in edits {
        files.entry(edit.file.as_str()).or_default().push(json!({
            "deletedRegion": {
                "byteOffset": edit.byte_start,
                "byteLength": edit.byte_end.saturating_sub(edit.byte_start),
            },
            "insertedContent": {"text": edit.replacement},
        }));
    }
    let change =
        |(file, replacements)| json!({"artifactLocation": {"uri": uri(file)}, "replacements": replacements});
    files.into_iter().map(change).collect()
}

/// A relative or absolute path as a URI reference.
fn uri(file: &str) -> String {
    let mut out = String::new();
    for byte in file.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte))
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
