//! The JSON Schema (draft 2020-12) of a policy document, for editors and for checks in other languages.
//!
//! It is made from the tables that the compiler reads: keys and kinds, endpoints, groups, presets, scopes. It stands on
//! its own, refuses nothing that the compiler accepts, and says on hover what the reference says. What takes more than
//! shape to see is left to the compiler: well-formed globs, globs that match nothing, overflow, twins among tokens.

mod auth;
mod base_dir;
mod document;
mod rule;
mod selectors;

use serde_json::{Value, json};

/// The schema of a policy: of a document alone in a file, or under `server` in a template.
#[must_use]
pub fn policy() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "agent-sandbox-server policy",
        "description": "Which endpoints of the sandbox server answer, to whom, on what and how much. A policy stands \
                        alone in a file, or under `server` in a template.",
        "type": "object",
        "if": { "required": ["server"] },
        "then": document::template(),
        "else": { "$ref": "#/$defs/document" },
        "$defs": {
            "document": document::document(),
            "rule": rule::rule(),
            "rule_or_switch": rule::rule_or_switch(),
            "core_rule_or_switch": rule::core_rule_or_switch(),
            "token": auth::token(),
        }
    })
}

/// The schema as it stands in a file.
#[must_use]
pub fn text() -> String {
    format!("{:#}\n", policy())
}
