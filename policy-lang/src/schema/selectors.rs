//! What a policy speaks of: endpoint ids, globs over them, groups, and everything.

use crate::endpoint::catalogue::CUSTOM_PREFIX;
use crate::endpoint::{ENDPOINTS, EndpointDecl, GROUPS, Group, GroupDecl};
use crate::lower::selector::{DEFAULTS, GROUP_PREFIX};
use serde_json::{Map, Value, json};

pub(super) fn groups() -> Value {
    let groups = GROUPS.iter().map(|decl| (decl.name.to_owned(), group(decl)));
    json!({
        "title": "Groups",
        "description": "Rules for whole groups of endpoints. The same as `group:NAME` under `endpoints`.",
        "type": "object",
        "properties": groups.collect::<Map<_, _>>(),
        "additionalProperties": false
    })
}

pub(super) fn endpoints() -> Value {
    let mut properties: Map<String, Value> = Map::new();
    properties.extend(ENDPOINTS.iter().map(|decl| (decl.name.to_owned(), endpoint(decl))));
    properties.extend(GROUPS.iter().map(|decl| (format!("{GROUP_PREFIX}{}", decl.name), group(decl))));
    let everything = described("Every endpoint. The same as `defaults`.".to_owned(), false);
    properties.insert(DEFAULTS.to_owned(), everything);
    let globs = described("A glob over endpoint ids: `*`, `?`, `[..]`, `{a,b}`.".to_owned(), false);
    let custom = described("A route that the template registers.".to_owned(), false);
    json!({
        "title": "Endpoints",
        "description": "Rules by selector: an endpoint id, a glob over ids, `group:NAME`, or `@defaults`. More exact \
                        selectors win, in this order.",
        "type": "object",
        "properties": properties,
        "patternProperties": {
            r"[*?\[\]{}\\]": globs,
            (format!("^{CUSTOM_PREFIX}.")): custom
        },
        "additionalProperties": false
    })
}

fn endpoint(decl: &EndpointDecl) -> Value {
    let door = decl.doors.first().map(|door| format!("{} {}", door.method.as_str(), door.path));
    let keys: Vec<_> = decl.accepts.iter().map(|key| format!("`{}`", key.as_str())).collect();
    let text = format!(
        "`{}`: {}.\n\nIn group `{}`. Takes {}.",
        door.unwrap_or_default(),
        decl.summary,
        decl.group.as_str(),
        keys.join(", ")
    );
    described(text, decl.group == Group::Core)
}

fn group(decl: &GroupDecl) -> Value {
    let members: Vec<_> = decl.members.iter().map(|id| format!("`{}`", id.as_str())).collect();
    let text = format!("{}.\n\nThe endpoints {}.", decl.summary, members.join(", "));
    described(text, decl.group == Group::Core)
}

fn described(text: String, core: bool) -> Value {
    let rule = if core { "#/$defs/core_rule_or_switch" } else { "#/$defs/rule_or_switch" };
    json!({ "description": text, "$ref": rule })
}
