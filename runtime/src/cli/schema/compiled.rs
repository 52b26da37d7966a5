//! The schema of the compiled set. It says the shape; whether a set is whole and fit is for the server to judge.

use super::closed;
use policy_lang::endpoint::Key;
use policy_lang::form::FORMAT_VERSION;
use policy_lang::layer::{LayerKind, Specificity};
use serde_json::{Value, json};

pub(super) fn schema() -> Value {
    let mut schema = closed(&json!({
        "format": {"const": "agent-sandbox-policy"},
        "format_version": {"const": FORMAT_VERSION},
        "crc32": {
            "type": "string",
            "pattern": "^[0-9a-f]{8}$",
            "description": "CRC-32 of every byte after the first line",
        },
        "tool_version": {"type": "string"},
        "table": {"description": "Fingerprint of the endpoint table it was made for", "$ref": "#/$defs/sha256"},
        "revision": {"description": "SHA-256 of the resolved content", "$ref": "#/$defs/sha256"},
        "preset": {"type": ["string", "null"]},
        "base_dir": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/base_dir"}]},
        "files": {"type": "array", "items": {"$ref": "#/$defs/file"}},
        "rules": {"type": "array", "items": {"$ref": "#/$defs/rule"}},
        "custom": {"type": "array", "items": {"$ref": "#/$defs/custom"}},
        "tokens": {"type": ["array", "null"], "items": {"$ref": "#/$defs/token"}},
        "paths": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The lists of paths that the rules count, in their order, each in one text with colons between the paths, as in PATH",
        },
    }));
    if let Some(members) = schema.as_object_mut() {
        members.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
        members.insert("title".to_owned(), "Compiled policy set".into());
        let description = "What `agent-sandbox-server compile` writes and `serve` boots from";
        members.insert("description".to_owned(), description.into());
        members.insert("$defs".to_owned(), definitions());
    }
    schema
}

fn definitions() -> Value {
    let layers: Vec<&str> = LayerKind::ALL.iter().map(|layer| layer.as_str()).collect();
    let specificities: Vec<&str> = Specificity::ALL.iter().map(|specificity| specificity.as_str()).collect();
    let keys: Vec<&str> = Key::ALL.iter().map(|key| key.as_str()).collect();
    let words = json!({"type": "array", "items": {"type": "string"}});
    let (in_file, places) = (json!({"$ref": "#/$defs/in_file"}), json!({"$ref": "#/$defs/places"}));
    let optional = json!({"type": ["string", "null"]});
    json!({
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "in_file": {"type": ["integer", "null"], "minimum": 0, "description": "Index into `files`"},
        "places": {"type": "string",
            "description": "Places, packed as source maps pack them: base64 digits of five bits, each number a difference"},
        "base_dir": closed(&json!({"path": {"type": "string"}, "file": in_file, "places": places})),
        "file": closed(&json!({
            "name": {"type": "string", "description": "Without directories"},
            "layer": {"enum": layers},
            "sha256": {"$ref": "#/$defs/sha256"},
        })),
        "rule": closed(&json!({
            "name": {"type": "string", "description": "As refusals print it"},
            "layer": {"enum": layers},
            "selector": {"type": "string"},
            "specificity": {"enum": specificities},
            "file": in_file,
            "places": places,
            "says": {
                "type": "object",
                "propertyNames": {"enum": keys},
                "additionalProperties": {"$ref": "#/$defs/value"},
            },
        })),
        "value": {
            "type": ["boolean", "integer", "string", "array", "object"],
            "items": {"type": "string"},
            "properties": {
                "entries": {"type": "integer", "minimum": 1, "description": "How many paths the list has"},
                "bytes": {"type": "integer", "minimum": 0, "description": "How long its text is"},
            },
            "required": ["entries", "bytes"],
            "additionalProperties": false,
            "description": "An object is the length of a list of paths, whose text stands in `paths`; the text stands here where \
                it needs an escape, and a list where a colon is part of a path",
        },
        "custom": closed(&json!({"id": {"type": "string"}, "group": {"type": "string"}, "scopes": words})),
        "token": closed(&json!({
            "id": {"type": "string"},
            "scopes": words,
            "token_env": optional,
            "token_sha256": optional,
            "file": in_file,
            "places": places,
        })),
    })
}
