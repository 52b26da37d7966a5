//! A rule: every key of the key table, with what its kind takes.

use crate::endpoint::{KEYS, KeyDecl, MergeLaw};
use crate::lower::words::sections;
use crate::rules;
use serde_json::{Map, Value, json};

pub(super) fn rule() -> Value {
    let single = KEYS.iter().filter(|decl| !decl.name.contains('.'));
    let mut properties: Map<String, Value> = single.map(|decl| (decl.name.to_owned(), key(decl))).collect();
    properties.extend(sections().into_iter().map(|name| (name.to_owned(), section(name))));
    json!({
        "title": "Rule",
        "description": "What a selector says. A key that is not here is not said: it comes from a less specific rule, \
                        a lower layer, or the catalogue.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false
    })
}

fn section(name: &str) -> Value {
    let keys = KEYS.iter().filter_map(|decl| {
        let (its, own) = decl.name.split_once('.')?;
        (its == name).then(|| (own.to_owned(), key(decl)))
    });
    json!({
        "title": name,
        "type": "object",
        "properties": keys.collect::<Map<_, _>>(),
        "additionalProperties": false
    })
}

/// The schema of one key: its kind's, under its own title.
fn key(decl: &KeyDecl) -> Value {
    let kind = rules::kind(decl.kind);
    let law = match decl.law {
        MergeLaw::Replace => "The most specific rule that sets it wins.",
        MergeLaw::Accumulate => "The entries of every matching rule add up.",
    };
    let mut schema = (kind.schema)(decl.key);
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("title".to_owned(), decl.name.into());
        schema.insert("description".to_owned(), format!("{}.\n\n{}\n\n{law}", decl.summary, kind.doc).into());
    }
    schema
}

/// A rule, or `true` and `false` for one that only opens or closes.
pub(super) fn rule_or_switch() -> Value {
    json!({
        "description": "A rule; or `true` to open and `false` to close, short for `{enabled: …}`.",
        "anyOf": [{ "type": "boolean" }, { "$ref": "#/$defs/rule" }]
    })
}

/// The same for what can never be closed.
pub(super) fn core_rule_or_switch() -> Value {
    json!({
        "description": "A rule. This can never be closed.",
        "anyOf": [
            { "const": true },
            { "$ref": "#/$defs/rule", "properties": { "enabled": { "const": true } } }
        ]
    })
}
