//! What could stand at a place.

use super::place::At;
use crate::endpoint::{
    BUNDLES, Catalogue, ENDPOINTS, EndpointDecl, GROUPS, KEYS, Key, KeyKind, KeySet, SCOPES,
};
use crate::layer::Selector;
use crate::lower::{presets, words};
use crate::rules;
use crate::testing::IN_TEMPLATE;

/// What an item is, for the sign beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// A key that opens a block.
    Section,
    /// A key with a value.
    Key,
    /// A selector.
    Selector,
    /// A value.
    Value,
}

/// Something that could stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What is shown and inserted, without quotes.
    pub label: String,
    /// What it is.
    pub kind: ItemKind,
    /// A few words beside it.
    pub detail: String,
    /// Whether it is no plain scalar, so that it wants quotes.
    pub quoted: bool,
}

/// Everything that is legal at a place, in the order of the language. The editor filters by the word.
#[must_use]
pub fn complete(at: &At, catalogue: &Catalogue) -> Vec<Item> {
    let mut path: Vec<&str> = at.path.iter().map(String::as_str).collect();
    if path.first() == Some(&words::WRAPPER) {
        path.remove(0);
    } else if path.is_empty() && at.key.is_none() {
        let mut items = keys(words::DOCUMENT);
        items.insert(0, item(words::WRAPPER, ItemKind::Section, "the policy of a template"));
        return items;
    }
    match (path.as_slice(), at.key.as_deref()) {
        ([], None) => keys(words::DOCUMENT),
        ([], Some("preset")) => {
            presets::PRESETS.iter().map(|preset| item(preset.name, ItemKind::Value, preset.summary)).collect()
        }
        (["groups"], None) => {
            GROUPS.iter().map(|group| item(group.name, ItemKind::Selector, group.summary)).collect()
        }
        (["endpoints"], None) => selectors(catalogue),
        (["endpoints" | "groups"], Some(_)) => booleans(),
        (["auth"], None) => keys(words::AUTH),
        (["auth", "tokens", "[]"], None) => keys(words::TOKEN),
        (["auth", "tokens", "[]", "scopes", "[]"], None) => scopes(true),
        (["defaults", rest @ ..], key) => of_rule(rest, key, all()),
        (["groups", name, rest @ ..], key) => of_rule(rest, key, taken(&format!("group:{name}"), catalogue)),
        (["endpoints", name, rest @ ..], key) => of_rule(rest, key, taken(name, catalogue)),
        ([IN_TEMPLATE | "tests", "[]", "request"], Some("endpoint"))
        | ([IN_TEMPLATE | "tests", "[]"], Some("request")) => ids(catalogue),
        ([IN_TEMPLATE | "tests", "[]"], None) => keys(&["name", "request", "expect"]),
        ([IN_TEMPLATE | "tests", "[]"], Some("expect"))
        | ([IN_TEMPLATE | "tests", "[]", "expect"], Some("verdict")) => {
            ["allow", "deny"].map(|word| item(word, ItemKind::Value, "")).to_vec()
        }
        _ => Vec::new(),
    }
}

/// Within a rule: its keys, those of a section, or values.
fn of_rule(rest: &[&str], key: Option<&str>, taken: KeySet) -> Vec<Item> {
    match (rest, key) {
        ([], None) => {
            let single = KEYS.iter().filter(|decl| !decl.name.contains('.') && taken.contains(decl.key));
            let mut items: Vec<Item> =
                single.map(|decl| item(decl.name, ItemKind::Key, decl.summary)).collect();
            let any = |section: &&str| words::section_keys(section).any(|(_, key)| taken.contains(key));
            items.extend(
                words::sections().into_iter().filter(any).map(|name| item(name, ItemKind::Section, "")),
            );
            items
        }
        ([section], None) => words::section_keys(section)
            .filter(|(_, key)| taken.contains(*key))
            .filter_map(|(name, key)| Some(item(name, ItemKind::Key, KEYS.get(key.index())?.summary)))
            .collect(),
        ([], Some(name)) => {
            KEYS.iter().find(|decl| decl.name == name).map_or_else(Vec::new, |decl| values(decl.kind))
        }
        ([name, "[]"], None) if words::section_keys(name).next().is_none() => {
            KEYS.iter().find(|decl| decl.name == *name).map_or_else(Vec::new, |decl| values(decl.kind))
        }
        ([section], Some(name)) => of_section(section, name),
        ([section, name, "[]"], None) => of_section(section, name),
        _ => Vec::new(),
    }
}

fn of_section(section: &str, name: &str) -> Vec<Item> {
    let key = words::section_key(section, name).and_then(|key| KEYS.get(key.index()));
    key.map_or_else(Vec::new, |decl| values(decl.kind))
}

fn values(kind: KeyKind) -> Vec<Item> {
    match kind {
        KeyKind::Bool => booleans(),
        KeyKind::PathsOrTrue => vec![item("true", ItemKind::Value, "nothing may be changed")],
        KeyKind::Scopes => scopes(false),
        other => {
            // The closed sets are what the schema of the kind lists.
            let schema = (rules::kind(other).schema)(Key::Enabled);
            let list =
                schema.get("enum").or_else(|| schema.pointer("/items/enum")).and_then(|list| list.as_array());
            let words = list.into_iter().flatten().filter_map(|word| word.as_str());
            words.map(|word| item(word, ItemKind::Value, "")).collect()
        }
    }
}

fn booleans() -> Vec<Item> {
    ["true", "false"].map(|word| item(word, ItemKind::Value, "")).to_vec()
}

fn scopes(bundles: bool) -> Vec<Item> {
    let plain = SCOPES.iter().filter(|scope| !scope.name.contains('{'));
    let mut items: Vec<Item> =
        plain.map(|scope| quoted(scope.name, ItemKind::Value, scope.summary)).collect();
    if bundles {
        items.extend(BUNDLES.iter().map(|bundle| quoted(bundle.name, ItemKind::Value, bundle.summary)));
    }
    items
}

fn selectors(catalogue: &Catalogue) -> Vec<Item> {
    let mut items = ids(catalogue);
    let groups = GROUPS.iter();
    items.extend(
        groups.map(|group| item(&format!("group:{}", group.name), ItemKind::Selector, group.summary)),
    );
    items.push(quoted("@defaults", ItemKind::Selector, "every endpoint"));
    items.push(quoted("*", ItemKind::Selector, "every endpoint, more specific than a group"));
    items
}

fn ids(catalogue: &Catalogue) -> Vec<Item> {
    let summary = |decl: Option<&EndpointDecl>| decl.map_or("a route of the template", |decl| decl.summary);
    let ids = catalogue.iter();
    ids.map(|ix| item(catalogue.name(ix), ItemKind::Selector, summary(ENDPOINTS.get(usize::from(ix.0)))))
        .collect()
}

fn keys(names: &[&str]) -> Vec<Item> {
    let section = |name: &str| {
        matches!(name, "groups" | "defaults" | "endpoints" | "auth" | "tokens" | "request" | "expect")
    };
    let kind = |name: &str| if section(name) { ItemKind::Section } else { ItemKind::Key };
    names.iter().map(|name| item(name, kind(name), "")).collect()
}

/// The keys that some endpoint of a selector takes.
fn taken(selector: &str, catalogue: &Catalogue) -> KeySet {
    let endpoints = match crate::lower::selector::of(selector, catalogue) {
        Some(Selector::Defaults) | None => return all(),
        Some(selector) => catalogue.matching(&selector),
    };
    let keys: Vec<Key> = Key::ALL
        .into_iter()
        .filter(|key| endpoints.iter().any(|endpoint| catalogue.accepts(*endpoint).contains(*key)))
        .collect();
    KeySet::of(&keys)
}

const fn all() -> KeySet {
    KeySet::of(&Key::ALL)
}

fn item(label: &str, kind: ItemKind, detail: &str) -> Item {
    Item { label: label.to_owned(), kind, detail: detail.to_owned(), quoted: false }
}

fn quoted(label: &str, kind: ItemKind, detail: &str) -> Item {
    Item { quoted: true, ..item(label, kind, detail) }
}
