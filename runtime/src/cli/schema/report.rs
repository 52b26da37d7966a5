//! The schema of the report that `check-config --json` prints.

use super::closed;
use crate::cli::report::SCHEMA_VERSION;
use policy_lang::decide::Gate;
use policy_lang::diag::CODES;
use policy_lang::endpoint::{EndpointId, Group, KEYS, MergeLaw, Method};
use policy_lang::layer::LayerKind;
use serde_json::{Map, Value, json};

pub(super) fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report of agent-sandbox-server check-config",
        "description": "Lines and columns count from 1, columns in characters, bytes from 0.",
        "type": "object",
        "additionalProperties": false,
        "required": ["schema_version", "tool_version", "command", "strict", "exit_code", "verdict", "inputs", "policy",
            "summary", "findings", "skipped_checks", "endpoints"],
        "properties": {
            "schema_version": {"const": SCHEMA_VERSION},
            "tool_version": {"type": "string"},
            "command": {"type": "string"},
            "strict": {"type": "boolean"},
            "exit_code": {"enum": [0, 1, 2, 3, 4, 70]},
            "verdict": {"enum": ["clean", "findings", "usage", "unreadable", "widened", "internal"]},
            "inputs": {"type": "array", "items": closed(&json!({
                "name": {"type": "string"},
                "layer": {"$ref": "#/$defs/layer"},
                "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            }))},
            "policy": {"description": "null where there are errors or several documents", "oneOf": [{"type": "null"},
                closed(&json!({"preset": {"type": "string"}, "base_dir": {"type": "string"}, "revision": {"type": "string"}}))]},
            "summary": closed(&json!({"errors": {"$ref": "#/$defs/count"}, "warnings": {"$ref": "#/$defs/count"},
                "infos": {"$ref": "#/$defs/count"}})),
            "findings": {"type": "array", "items": {"$ref": "#/$defs/finding"}},
            "skipped_checks": {"type": "array", "items": closed(&json!({"check": {"type": "string"}, "why": {"type": "string"}}))},
            "endpoints": {"description": "By id; null where there are errors or several documents",
                "type": ["object", "null"], "additionalProperties": {"$ref": "#/$defs/endpoint"}},
            "explain": {"$ref": "#/$defs/explain"},
            "fixes": {"description": "What --fix did; with `widens` what it left alone", "type": "array", "items": {"$ref": "#/$defs/fix"}},
            "tests": {"$ref": "#/$defs/tests"},
            "message": {"type": "string", "description": "Why the run failed, where no document is to blame"},
        },
        "$defs": definitions(),
    })
}

fn definitions() -> Value {
    let layers: Vec<&str> = LayerKind::ALL.iter().map(|layer| layer.as_str()).collect();
    let codes: Vec<&str> = CODES.iter().map(|code| code.as_str()).collect();
    let ids: Vec<&str> = EndpointId::ALL.iter().map(|id| id.as_str()).collect();
    let groups: Vec<&str> = Group::ALL.iter().map(|group| group.as_str()).collect();
    let gates: Vec<&str> = Gate::ALL.iter().map(|gate| gate.as_str()).collect();
    let methods = [Method::Get, Method::Head, Method::Post, Method::Delete].map(Method::as_str);
    let place_or_null = json!({"oneOf": [{"type": "null"}, {"$ref": "#/$defs/place"}]});
    let mut related = places();
    if let Some(members) = related.as_object_mut() {
        members.insert("message".to_owned(), json!({"type": "string"}));
    }
    json!({
        "layer": {"enum": layers},
        "count": {"type": "integer", "minimum": 0},
        "place": closed(&places()),
        "edits": {"type": "array", "items": closed(&json!({"file": {"type": "string"},
            "byte_start": {"$ref": "#/$defs/count"}, "byte_end": {"$ref": "#/$defs/count"}, "replacement": {"type": "string"}}))},
        "finding": closed(&json!({
            "code": {"enum": codes},
            "level": {"enum": ["error", "warning", "info"]},
            "message": {"type": "string"},
            "help": {"type": ["string", "null"]},
            "primary": place_or_null,
            "related": {"type": "array", "items": closed(&related)},
            "affects": {"type": "array", "items": {"enum": ids}},
            "suggestions": {"type": "array", "items": closed(&json!({
                "message": {"type": "string"}, "applicability": {"enum": ["safe", "review"]}, "edits": {"$ref": "#/$defs/edits"}}))},
        })),
        "endpoint": closed(&json!({
            "method": {"enum": methods},
            "path": {"type": "string"},
            "group": {"enum": groups},
            "keys": {"type": "object", "additionalProperties": false, "properties": keys()},
        })),
        "one": closed(&json!({
            "value": {}, "rule": {"type": "string"}, "layer": {"$ref": "#/$defs/layer"}, "at": place_or_null,
            "beaten": {"type": "array", "items": closed(&json!({
                "value": {}, "rule": {"type": "string"}, "layer": {"$ref": "#/$defs/layer"}, "at": place_or_null,
                "reason": {"enum": ["less-specific", "earlier-layer", "same-value", "false-closes"]}}))},
        })),
        "union": closed(&json!({"values": {"type": "array", "items": closed(&json!({
            "value": {}, "rule": {"type": "string"}, "layer": {"$ref": "#/$defs/layer"}, "at": place_or_null}))}})),
        "fix": {"type": "object", "additionalProperties": false, "required": ["file", "code", "message", "applied"], "properties": {
            "file": {"type": "string"}, "code": {"enum": codes}, "message": {"type": "string"}, "applied": {"type": "boolean"},
            "widens": {"type": "string"}}},
        "tests": {"type": "object", "additionalProperties": false, "required": ["total", "passed", "failed"], "properties": {
            "total": {"$ref": "#/$defs/count"}, "passed": {"$ref": "#/$defs/count"}, "failed": {"$ref": "#/$defs/count"},
            "coverage": closed(&json!({"total": {"$ref": "#/$defs/count"}, "decided": {"$ref": "#/$defs/count"},
                "missing": {"type": "array", "items": closed(&json!({"rule": {"type": "string"}, "at": {"type": ["string", "null"]},
                    "keys": {"type": "array", "items": {"type": "string"}}}))}})),
            "mutation": closed(&json!({"total": {"$ref": "#/$defs/count"}, "noticed": {"$ref": "#/$defs/count"},
                "score": {"type": ["integer", "null"]},
                "survivors": {"type": "array", "items": closed(&json!({"rule": {"type": "string"}, "at": {"type": ["string", "null"]},
                    "key": {"type": "string"}, "change": {"type": "string"}}))}})),
        }},
        "explain": closed(&json!({
            "endpoint": {"type": "string"},
            "verdict": {"enum": ["allow", "deny"]},
            "status": {"type": "integer"},
            "code": {"type": ["string", "null"]},
            "rule": {"type": "string"},
            "at": place_or_null,
            "gates": {"type": "array", "items": closed(&json!({
                "gate": {"enum": gates},
                "outcome": {"enum": ["pass", "fail", "not_asked", "at_call_time"]},
                "status": {"type": ["integer", "null"]},
                "code": {"type": ["string", "null"]},
                "rule": {"type": ["string", "null"]},
                "at": place_or_null,
                "detail": {"type": ["string", "null"]},
            }))},
            "edits": {"type": "array", "items": closed(&json!({"message": {"type": "string"}, "edits": {"$ref": "#/$defs/edits"}}))},
            "notes": {"type": "array", "items": {"type": "string"}},
        })),
    })
}

pub(super) fn places() -> Value {
    let count = json!({"$ref": "#/$defs/count"});
    let mut members = Map::new();
    members.insert("file".to_owned(), json!({"type": "string"}));
    for name in ["line", "column", "end_line", "end_column", "byte_start", "byte_end"] {
        members.insert(name.to_owned(), count.clone());
    }
    Value::Object(members)
}

fn keys() -> Value {
    let shape = |law| match law {
        MergeLaw::Replace => json!({"$ref": "#/$defs/one"}),
        MergeLaw::Accumulate => json!({"$ref": "#/$defs/union"}),
    };
    KEYS.iter().map(|key| (key.name.to_owned(), shape(key.law))).collect::<Map<_, _>>().into()
}
