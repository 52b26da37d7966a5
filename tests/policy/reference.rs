//! A second evaluator, written from the description of the language alone: it goes through every rule for every call,
//! matches globs by trying everything, and shares no code with the compiler but the table of endpoints.

use crate::random::Call;
use policy_lang::endpoint::{BaseValue, DefaultState, ENDPOINTS, EndpointDecl, GROUPS, KEYS, Key, MergeLaw};
use serde_json::{Value, json};

const BASE_DIR: &str = "/home/user";

/// A rule of some layer. Greater is stronger: specificity first, then the layer.
struct Rule {
    specificity: u8,
    layer: u8,
    selector: String,
    says: Value,
}

/// Every rule there is.
pub(crate) struct Policy {
    rules: Vec<Rule>,
}

impl Policy {
    /// From a document, its preset's document, groups switched by code, and groups that the environment opens.
    pub(crate) fn new(
        document: &Value,
        preset: Option<&Value>,
        code: &[(&str, bool)],
        environment: &[&str],
    ) -> Self {
        let mut rules = Vec::new();
        for group in GROUPS.iter().filter(|group| group.default == DefaultState::OptIn) {
            rules.push(Rule {
                specificity: 1,
                layer: 0,
                selector: group.name.to_owned(),
                says: json!({"enabled": false}),
            });
        }
        for (group, enabled) in code {
            rules.push(Rule {
                specificity: 1,
                layer: 1,
                selector: (*group).to_owned(),
                says: json!({"enabled": enabled}),
            });
        }
        if let Some(preset) = preset {
            take(&mut rules, preset, 2);
        }
        take(&mut rules, document, 3);
        for group in environment {
            rules.push(Rule {
                specificity: 1,
                layer: 4,
                selector: (*group).to_owned(),
                says: json!({"enabled": true}),
            });
        }
        Self { rules }
    }

    /// The code of the refusal, or none.
    pub(crate) fn decide(&self, call: &Call) -> Option<&'static str> {
        let decl = ENDPOINTS.iter().find(|decl| decl.name == call.endpoint).unwrap();
        let core = decl.group.as_str() == "core";
        if !core && self.replacing(decl, Key::Enabled) == Some(json!(false)) {
            return Some("endpoint_disabled");
        }
        if let Some(held) = &call.scopes {
            let asked = self.replacing(decl, Key::Scopes).unwrap_or_else(|| json!(decl.scopes));
            let lacks = |scope: &Value| {
                *scope != json!("core:read") && !held.iter().any(|held| json!(held) == *scope)
            };
            if asked.as_array().unwrap().iter().any(lacks) {
                return Some("missing_scope");
            }
        }
        self.path(decl, call)
            .or_else(|| self.extension(decl, call))
            .or_else(|| {
                self.listed(
                    decl,
                    Key::ParamsLanguages,
                    call.language.map(|it| json!(it)),
                    "language_not_allowed",
                )
            })
            .or_else(|| {
                self.listed(
                    decl,
                    Key::ParamsAllowedSignals,
                    call.signal.map(|it| json!(it)),
                    "signal_not_allowed",
                )
            })
            .or_else(|| {
                let port = call.port.map(|port| json!(port))?;
                let denied = self.accumulating(decl, Key::ParamsDenyPorts).contains(&port);
                // Low ports need to be named.
                let low = self.replacing(decl, Key::ParamsAllowPorts).is_none() && call.port < Some(1024);
                (denied || low)
                    .then_some("port_not_allowed")
                    .or_else(|| self.listed(decl, Key::ParamsAllowPorts, Some(port), "port_not_allowed"))
            })
            .or_else(|| {
                let limit = self.replacing(decl, Key::LimitsMaxBytes)?.as_u64().unwrap();
                (call.bytes? > limit).then_some("file_too_large")
            })
    }

    fn path(&self, decl: &EndpointDecl, call: &Call) -> Option<&'static str> {
        let (op, path) = call.path.as_ref()?;
        let denies = self.accumulating(decl, Key::PathsDeny);
        if denies.iter().any(|deny| denied(deny.as_str().unwrap(), path)) {
            return Some("path_denied");
        }
        let allow = self.replacing(decl, Key::PathsAllow).unwrap_or_else(|| json!([BASE_DIR]));
        if !allow.as_array().unwrap().iter().any(|allow| covers(&absolute(allow.as_str().unwrap()), path)) {
            return Some("path_not_allowed");
        }
        let read_only = match self.replacing(decl, Key::PathsReadOnly) {
            Some(Value::Bool(all)) => all,
            Some(Value::Array(list)) => list
                .iter()
                .any(|entry| covers(&absolute(entry.as_str().unwrap()).to_lowercase(), &path.to_lowercase())),
            _ => false,
        };
        // The base directory, and what it lies in, is never removed.
        let holds_base = *op == "delete" && covers(path, BASE_DIR);
        (holds_base || (read_only && matches!(*op, "write" | "delete"))).then_some("read_only")
    }

    fn extension(&self, decl: &EndpointDecl, call: &Call) -> Option<&'static str> {
        let (op, path) = call.path.as_ref()?;
        let takes = decl.accepts.contains(Key::ParamsAllowExtensions);
        let ends = |extension: &Value| {
            let extension = extension.as_str().unwrap().to_lowercase();
            path.to_lowercase().ends_with(&format!(".{}", extension.trim_start_matches('.')))
        };
        if *op != "write" || !takes {
            return None;
        }
        let denied = self.accumulating(decl, Key::ParamsDenyExtensions).iter().any(ends);
        let allowed = self
            .replacing(decl, Key::ParamsAllowExtensions)
            .is_none_or(|list| list.as_array().unwrap().iter().any(ends));
        (denied || !allowed).then_some("extension_not_allowed")
    }

    fn listed(
        &self,
        decl: &EndpointDecl,
        key: Key,
        asked: Option<Value>,
        code: &'static str,
    ) -> Option<&'static str> {
        let list = self.replacing(decl, key)?;
        let asked = asked?;
        (!list.as_array().unwrap().contains(&asked)).then_some(code)
    }

    /// What the strongest rule says; the base value of the catalogue where none does.
    fn replacing(&self, decl: &EndpointDecl, key: Key) -> Option<Value> {
        assert_eq!(KEYS[key.index()].law, MergeLaw::Replace);
        if !decl.accepts.contains(key) {
            return None;
        }
        let mut best: Option<(u8, u8, Value)> = None;
        for rule in self.rules.iter().filter(|rule| rule.matches(decl)) {
            let Some(value) = rule.get(key) else { continue };
            best = Some(match best {
                Some((specificity, layer, old)) if (specificity, layer) > (rule.specificity, rule.layer) => {
                    (specificity, layer, old)
                }
                Some((specificity, layer, old))
                    if (specificity, layer) == (rule.specificity, rule.layer) && old == json!(false) =>
                {
                    (specificity, layer, old)
                }
                _ => (rule.specificity, rule.layer, value),
            });
        }
        best.map(|(_, _, value)| value).or_else(|| {
            let (_, value) = decl.base.iter().find(|(of, _)| *of == key)?;
            Some(match value {
                BaseValue::Bool(value) => json!(value),
                BaseValue::Number(value) => json!(value),
                BaseValue::Words(value) => json!(value),
                BaseValue::Numbers(value) => json!(value),
            })
        })
    }

    fn accumulating(&self, decl: &EndpointDecl, key: Key) -> Vec<Value> {
        let rules = self.rules.iter().filter(|rule| rule.matches(decl) && decl.accepts.contains(key));
        rules.filter_map(|rule| rule.get(key)).flat_map(|list| list.as_array().unwrap().clone()).collect()
    }
}

fn take(rules: &mut Vec<Rule>, document: &Value, layer: u8) {
    let mut add = |specificity, selector: &str, says: &Value| {
        let says = if says.is_boolean() { json!({ "enabled": says }) } else { says.clone() };
        rules.push(Rule { specificity, layer, selector: selector.to_owned(), says });
    };
    if let Some(rule) = document.get("defaults") {
        add(0, "", rule);
    }
    for (group, rule) in document["groups"].as_object().into_iter().flatten() {
        add(1, group, rule);
    }
    for (selector, rule) in document["endpoints"].as_object().into_iter().flatten() {
        let glob = selector.contains(['*', '?', '[', '{']);
        add(if glob { 2 } else { 3 }, selector, rule);
    }
}

impl Rule {
    fn matches(&self, decl: &EndpointDecl) -> bool {
        let core = decl.group.as_str() == "core";
        match self.specificity {
            0 => !core,
            1 => self.selector == decl.group.as_str(),
            2 => !core && glob(&self.selector, decl.name),
            _ => self.selector == decl.name,
        }
    }

    fn get(&self, key: Key) -> Option<Value> {
        key.as_str().split('.').try_fold(&self.says, |value, part| value.get(part)).cloned()
    }
}

fn absolute(entry: &str) -> String {
    if entry.starts_with('/') || entry.starts_with("**/") {
        entry.to_owned()
    } else {
        format!("{BASE_DIR}/{entry}")
    }
}

/// An entry without glob characters is that path and all below it; one with them is a glob over the whole path.
fn covers(entry: &str, path: &str) -> bool {
    if entry.contains(['*', '?', '[', '{']) {
        return path_glob(entry, path);
    }
    path == entry || path.starts_with(&format!("{entry}/"))
}

/// A deny reaches all below what it matches, ignores case, and without a slash matches any part.
fn denied(entry: &str, path: &str) -> bool {
    let (entry, path) = (entry.to_lowercase(), path.to_lowercase());
    if !entry.contains('/') {
        return path.split('/').any(|part| glob(&entry, part));
    }
    let entry = absolute(&entry);
    let whole = entry.strip_suffix("/**").unwrap_or(&entry).to_owned();
    let ancestors = path.match_indices('/').skip(1).map(|(at, _)| &path[..at]).chain([&*path]);
    let mut ancestors = ancestors.collect::<Vec<_>>().into_iter();
    ancestors.any(|above| covers(&entry, above) || covers(&whole, above))
}

fn path_glob(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    parts(&pattern, &path)
}

fn parts(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        // At the end it stands for something, elsewhere perhaps for nothing.
        (["**"], []) => false,
        (["**"], _) => true,
        (["**", rest @ ..], _) => (0..=path.len()).any(|skip| parts(rest, &path[skip..])),
        ([first, rest @ ..], [part, below @ ..]) => glob(first, part) && parts(rest, below),
        _ => false,
    }
}

/// `*`, `?`, `[ab]`, `[a-c]`, `{a,b}` over one part, by trying everything.
fn glob(pattern: &str, text: &str) -> bool {
    let Some(first) = pattern.chars().next() else { return text.is_empty() };
    let rest = &pattern[first.len_utf8()..];
    match first {
        '*' => (0..=text.len()).any(|skip| glob(rest, &text[skip..])),
        '{' => {
            let (choices, rest) = rest.split_once('}').unwrap();
            choices.split(',').any(|choice| glob(&format!("{choice}{rest}"), text))
        }
        '[' => {
            let (set, rest) = rest.split_once(']').unwrap();
            let Some(c) = text.chars().next() else { return false };
            let inside = match set.split_once('-') {
                Some((low, high)) => low <= &*c.to_string() && &*c.to_string() <= high,
                None => set.contains(c),
            };
            inside && glob(rest, &text[1..])
        }
        '?' => !text.is_empty() && glob(rest, &text[1..]),
        c => text.starts_with(c) && glob(rest, &text[1..]),
    }
}
