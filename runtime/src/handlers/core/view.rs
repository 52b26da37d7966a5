//! An endpoint as `GET /capabilities` shows it, computed from the merged policy that also decides.

use policy_lang::endpoint::{BaseValue, EndpointDecl, Key, MergeLaw};
use policy_lang::policy::CompiledPolicy;
use policy_lang::resolved::{EndpointIx, Resolved, ResolvedKey, ResolvedValue};
use serde_json::{Map, Value, json};

/// The values of an endpoint's rule keys, in the families of the policy document.
#[derive(Debug, Default)]
pub(super) struct Families {
    pub(super) limits: Map<String, Value>,
    pub(super) paths: Map<String, Value>,
    pub(super) params: Map<String, Value>,
}

impl Families {
    /// Reads every key that the endpoint accepts and that has a value, by a rule or from the catalogue.
    pub(super) fn of(policy: &CompiledPolicy, ix: EndpointIx, decl: &EndpointDecl) -> Self {
        let resolved = policy.resolved();
        let said = resolved.endpoints.get(usize::from(ix.0)).map(Vec::as_slice).unwrap_or_default();
        let mut families = Self::default();
        for key in decl.accepts.iter() {
            let Some((family, name)) = key.as_str().split_once('.') else { continue };
            let by_rule = said.iter().find(|said| said.key == key).and_then(|said| value(resolved, said));
            let replaced = || policy.base_value(ix, key).map(|value| json!(value));
            let unsaid = || replaced().or_else(|| base(decl, key)).or_else(|| unsaid(policy, key));
            let Some(value) = by_rule.or_else(unsaid) else { continue };
            match family {
                "limits" => families.limits.insert(name.to_owned(), value),
                "paths" => families.paths.insert(name.to_owned(), value),
                _ => families.params.insert(name.to_owned(), value),
            };
        }
        families
    }
}

/// The value of a key that a rule speaks of: the winner's, or the union of all contributors.
fn value(resolved: &Resolved, said: &ResolvedKey) -> Option<Value> {
    let mut statements =
        said.statements.iter().filter_map(|ix| resolved.statement(*ix)).map(|said| &said.value);
    if law(said.key) == MergeLaw::Replace {
        return statements.next().map(shown);
    }
    let mut union = Vec::new();
    for element in statements.filter_map(|said| shown(said).as_array().cloned()).flatten() {
        if !union.contains(&element) {
            union.push(element);
        }
    }
    Some(Value::Array(union))
}

fn law(key: Key) -> MergeLaw {
    policy_lang::endpoint::KEYS.get(key.index()).map_or(MergeLaw::Replace, |row| row.law)
}

fn shown(value: &ResolvedValue) -> Value {
    match value {
        ResolvedValue::Bool(value) => json!(value),
        ResolvedValue::Number(value) => json!(value),
        ResolvedValue::Word(value) => json!(value),
        ResolvedValue::List(elements) => elements.values().map(|value| json!(value)).collect(),
    }
}

fn base(decl: &EndpointDecl, key: Key) -> Option<Value> {
    decl.base.iter().find(|(held, _)| *held == key).map(|(_, value)| match value {
        BaseValue::Bool(value) => json!(value),
        BaseValue::Number(value) => json!(value),
        BaseValue::Words(words) => json!(words),
        BaseValue::Numbers(numbers) => json!(numbers),
    })
}

/// What holds for paths of which nobody has said anything.
fn unsaid(policy: &CompiledPolicy, key: Key) -> Option<Value> {
    match key {
        Key::PathsAllow => Some(json!([policy.base_dir()])),
        Key::PathsSymlinks => Some(json!("within")),
        _ => None,
    }
}
