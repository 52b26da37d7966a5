//! The schema of the report that `diff --json` prints.

use super::closed;
use super::report::places;
use crate::cli::report::SCHEMA_VERSION;
use policy_lang::decide::Op;
use policy_lang::diag::CODES;
use policy_lang::diff::accept;
use policy_lang::layer::LayerKind;
use serde_json::{Value, json};

pub(super) fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report of agent-sandbox-server diff",
        "description": "What is not listed under `changes` is the same on both sides. Lines and columns count from 1, columns in characters, bytes from 0.",
        "type": "object",
        "additionalProperties": false,
        "required": ["schema_version", "tool_version", "command", "deny_widening", "exit_code", "verdict",
            "comparisons", "added", "removed", "findings"],
        "properties": {
            "schema_version": {"const": SCHEMA_VERSION},
            "tool_version": {"type": "string"},
            "command": {"const": "diff"},
            "deny_widening": {"type": "boolean"},
            "exit_code": {"enum": [0, 1, 2, 3, 4, 70]},
            "verdict": {"enum": ["clean", "findings", "usage", "unreadable", "widened", "internal"]},
            "comparisons": {"type": "array", "items": {"$ref": "#/$defs/comparison"}},
            "added": {"description": "Files of a folder that only NEW has", "$ref": "#/$defs/names"},
            "removed": {"description": "Files of a folder that only OLD has", "$ref": "#/$defs/names"},
            "findings": {"type": "array", "items": {"$ref": "#/$defs/finding"}},
            "message": {"type": "string", "description": "Why the run failed, where no document is to blame"},
        },
        "$defs": definitions(),
    })
}

fn definitions() -> Value {
    let layers: Vec<&str> = LayerKind::ALL.iter().map(|layer| layer.as_str()).collect();
    let codes: Vec<&str> =
        CODES.iter().map(|code| code.as_str()).chain(accept::CODES.iter().map(|(code, _)| *code)).collect();
    let ops: Vec<&str> = Op::ALL.iter().map(|op| op.as_str()).collect();
    let text = json!({"type": "string"});
    let text_or_null = json!({"type": ["string", "null"]});
    let count = json!({"$ref": "#/$defs/count"});
    let place_or_null = json!({"oneOf": [{"type": "null"}, {"$ref": "#/$defs/place"}]});
    let evidence = json!({"oneOf": [{"type": "null"}, {"$ref": "#/$defs/evidence"}]});
    let mut related = places();
    if let Some(members) = related.as_object_mut() {
        members.insert("message".to_owned(), text.clone());
    }
    json!({
        "count": {"type": "integer", "minimum": 0},
        "names": {"type": "array", "items": text},
        "place": closed(&places()),
        "comparison": closed(&json!({
            "old": {"$ref": "#/$defs/side"},
            "new": {"$ref": "#/$defs/side"},
            "summary": closed(&json!({"widened": count, "reshaped": count, "narrowed": count, "same": count,
                "latent": count, "accepted": count})),
            "changes": {"type": "array", "items": {"$ref": "#/$defs/change"}},
        })),
        "side": closed(&json!({"name": text, "compiled": {"type": "boolean"}, "preset": text, "base_dir": text,
            "revision": text, "dropped": {"$ref": "#/$defs/names"}})),
        "change": closed(&json!({
            "subject": {"type": "string", "description": "An endpoint id, `auth.tokens` or `endpoint-table`"},
            "identity": text_or_null,
            "key": text,
            "verdict": {"enum": ["widened", "reshaped", "narrowed"]},
            "cause": {"enum": ["author", "preset", "table", "base"]},
            "old": {"$ref": "#/$defs/said"},
            "new": {"$ref": "#/$defs/said"},
            "opens": evidence,
            "closes": evidence,
            "accepted": {"oneOf": [{"type": "null"},
                closed(&json!({"reason": text, "author": text, "expires": text}))]},
        })),
        "said": closed(&json!({"value": text_or_null, "rule": text_or_null,
            "layer": {"enum": layers.iter().map(|layer| json!(layer)).chain([Value::Null]).collect::<Vec<_>>()},
            "at": place_or_null})),
        "evidence": {"oneOf": [
            closed(&json!({"unproven": text})),
            closed(&json!({"call": text, "refused_with": text_or_null, "witness": {"$ref": "#/$defs/witness"}})),
        ]},
        "witness": {"type": "object", "additionalProperties": false, "required": ["endpoint"], "properties": {
            "endpoint": text, "identity": text, "scopes": {"$ref": "#/$defs/names"}, "name": text,
            "request_bytes": count, "bytes": count, "path": text, "op": {"enum": ops}, "command": text,
            "shell": text, "language": text, "signal": count, "url": text,
            "addresses": {"$ref": "#/$defs/names"}, "port": count,
            "variable": closed(&json!({"name": text, "use": {"enum": ["set", "show", "carry"]}})),
            "amount": closed(&json!({"key": text, "amount": count})), "beyond": text,
        }},
        "finding": closed(&json!({
            "code": {"enum": codes},
            "level": {"enum": ["error", "warning", "info"]},
            "message": text,
            "help": text_or_null,
            "primary": place_or_null,
            "related": {"type": "array", "items": closed(&related)},
            "affects": {"$ref": "#/$defs/names"},
            "suggestions": {"type": "array"},
        })),
    })
}
