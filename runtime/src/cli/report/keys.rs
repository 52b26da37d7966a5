//! The resolved keys of every endpoint, with the rule behind each value and what it beat.

use policy_lang::endpoint::Catalogue;
use policy_lang::explain::{self, Holds, Said};
use policy_lang::policy::CompiledPolicy;
use policy_lang::resolved::{FilePlace, ResolvedValue};
use serde_json::{Map, Value, json};

/// The `endpoints` member of the report.
pub(in crate::cli) fn endpoints(policy: &CompiledPolicy, catalogue: &Catalogue) -> Value {
    let mut all = Map::new();
    for (endpoint, _) in policy.endpoints() {
        let door = policy.decl(endpoint).and_then(|decl| decl.doors.first());
        let keys = explain::keys(policy, catalogue, endpoint);
        let keys: Map<String, Value> = keys
            .iter()
            .map(|report| (report.key.as_str().to_owned(), holds(policy, &report.holds)))
            .collect();
        let entry = json!({
            "method": door.map(|door| door.method.as_str()),
            "path": door.map(|door| door.path),
            "group": catalogue.group(endpoint).map(|group| group.as_str()),
            "keys": keys,
        });
        all.insert(catalogue.name(endpoint).to_owned(), entry);
    }
    Value::Object(all)
}

fn holds(policy: &CompiledPolicy, holds: &Holds<'_>) -> Value {
    match holds {
        Holds::One { winner, beaten } => {
            let mut one = said(policy, winner);
            let beaten = beaten.iter().map(|beaten| {
                let mut lost = said(policy, &beaten.said);
                lost.insert("reason".to_owned(), beaten.reason.as_str().into());
                Value::Object(lost)
            });
            one.insert("beaten".to_owned(), beaten.collect());
            Value::Object(one)
        }
        Holds::Union(elements) => {
            let values = elements.iter().map(|element| {
                json!({
                    "value": element.value,
                    "rule": element.rule,
                    "layer": element.layer.as_str(),
                    "at": place(policy, element.at),
                })
            });
            json!({"values": values.collect::<Vec<_>>()})
        }
    }
}

fn said(policy: &CompiledPolicy, said: &Said<'_>) -> Map<String, Value> {
    let mut members = Map::new();
    members.insert("value".to_owned(), value(&said.value));
    members.insert("rule".to_owned(), said.rule.into());
    members.insert("layer".to_owned(), said.layer.as_str().into());
    members.insert("at".to_owned(), place(policy, said.at));
    members
}

fn value(value: &ResolvedValue) -> Value {
    match value {
        ResolvedValue::Bool(value) => json!(value),
        ResolvedValue::Number(value) => json!(value),
        ResolvedValue::Word(value) => json!(value),
        ResolvedValue::List(list) => list.values().map(Value::from).collect(),
    }
}

/// A place of the policy's files, or null.
pub(in crate::cli) fn place(policy: &CompiledPolicy, place: Option<FilePlace>) -> Value {
    let Some(place) = place else { return Value::Null };
    let file = policy.resolved().files.get(place.file as usize).map_or("", |file| &file.name);
    json!({
        "file": file,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "byte_start": place.byte_start,
        "byte_end": place.byte_end,
    })
}
