//! The document and the template around it.

use super::{auth, base_dir, selectors};
use crate::lower::presets::PRESETS;
use serde_json::{Value, json};

/// A template: its other keys are its own, but for other spellings of `server`.
pub(super) fn template() -> Value {
    json!({
        "properties": { "server": { "$ref": "#/$defs/document" } },
        "propertyNames": {
            "anyOf": [
                { "const": "server" },
                { "not": { "pattern": "^[-_ ]*[Ss][Ee][Rr][Vv][Ee][Rr][Ss]?[-_ ]*$" } }
            ]
        }
    })
}

/// The six keys of a document.
pub(super) fn document() -> Value {
    json!({
        "title": "Policy document",
        "type": "object",
        "properties": {
            "preset": preset(),
            "base_dir": base_dir::base_dir(),
            "groups": selectors::groups(),
            "defaults": {
                "title": "Defaults",
                "description": "A rule for every endpoint, less specific than any other. The same as `@defaults` \
                                under `endpoints`.",
                "$ref": "#/$defs/rule"
            },
            "endpoints": selectors::endpoints(),
            "auth": auth::auth()
        },
        "additionalProperties": false
    })
}

fn preset() -> Value {
    let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    let lines: Vec<_> =
        PRESETS.iter().map(|preset| format!("- `{}`: {}", preset.name, preset.summary)).collect();
    json!({
        "title": "Preset",
        "description": format!("A policy that this one builds on; the rules here win over equally specific rules of \
                                it.\n\n{}", lines.join("\n")),
        "type": "string",
        "enum": names
    })
}
