//! The document: a locked preset, and by exact id what is to be open, with every restriction that the catalogue does not
//! make by itself.

use super::narrow::Narrowed;
use crate::endpoint::{Catalogue, Key};
use crate::explain::edits::scalar;
use crate::explain::keys::base;
use crate::lower::words;
use crate::policy::CompiledPolicy;
use crate::resolved::{EndpointIx, ResolvedToken, ResolvedValue};
use crate::variant::{Said, said};
use std::collections::BTreeMap;
use std::fmt::Write;

pub(super) fn document(today: &CompiledPolicy, catalogue: &Catalogue, narrowed: &Narrowed) -> String {
    let mut text = String::from("server:\n  preset: locked\n");
    let _ = writeln!(text, "  base_dir: {}", scalar(today.base_dir()));
    text.push_str("  endpoints:\n");
    let mut ruled = 0;
    for (endpoint, lists) in &narrowed.endpoints {
        let mut keys = keys(today, catalogue, *endpoint);
        if let Some(paths) = &lists.paths {
            keys.insert(Key::PathsAllow, flow(paths, false));
        }
        if let Some(programs) = &lists.programs {
            keys.insert(Key::ParamsAllowCommands, flow(programs, false));
        }
        if catalogue.is_core(*endpoint) && keys.is_empty() {
            continue;
        }
        ruled += 1;
        rule(&mut text, catalogue, *endpoint, &keys);
    }
    if ruled == 0 {
        text.truncate(text.len() - "  endpoints:\n".len());
    }
    if let Some(tokens) = &narrowed.tokens {
        auth(&mut text, tokens);
    }
    text
}

/// What holds today and is not what the catalogue says, by key, as it is to be written.
fn keys(today: &CompiledPolicy, catalogue: &Catalogue, endpoint: EndpointIx) -> BTreeMap<Key, String> {
    let accepted = catalogue.accepts(endpoint).iter().filter(|key| *key != Key::Enabled);
    let mut keys = BTreeMap::new();
    for key in accepted {
        let Some(holds) = said(today.resolved(), catalogue, today.base_dir(), endpoint, key) else {
            continue;
        };
        let base = base(catalogue, today.base_dir(), endpoint, key).map(|(value, _)| Said::of(&value));
        if base.as_ref() == Some(&holds) || holds == Said::Set(Vec::new()) && base.is_none() && is_deny(key) {
            continue;
        }
        let written = match &holds {
            Said::Set(list) => flow(list, is_number(key)),
            Said::One(ResolvedValue::Bool(value)) => value.to_string(),
            Said::One(ResolvedValue::Number(value)) => value.to_string(),
            Said::One(ResolvedValue::Word(word)) => scalar(word),
            Said::One(ResolvedValue::List(_)) => continue,
        };
        keys.insert(key, written);
    }
    keys
}

fn is_deny(key: Key) -> bool {
    matches!(key.as_str().rsplit('.').next(), Some(name) if name.contains("deny"))
}

/// Whether the elements of a list are numbers.
fn is_number(key: Key) -> bool {
    matches!(key, Key::ParamsAllowedSignals | Key::ParamsAllowPorts | Key::ParamsDenyPorts)
}

fn flow(list: &[String], numbers: bool) -> String {
    let element = |text: &String| {
        if numbers && text.bytes().all(|byte| byte.is_ascii_digit()) { text.clone() } else { scalar(text) }
    };
    format!("[{}]", list.iter().map(element).collect::<Vec<_>>().join(", "))
}

fn rule(text: &mut String, catalogue: &Catalogue, endpoint: EndpointIx, keys: &BTreeMap<Key, String>) {
    let name = scalar(catalogue.name(endpoint));
    if keys.is_empty() {
        let _ = writeln!(text, "    {name}: true");
        return;
    }
    let _ = writeln!(text, "    {name}:");
    if !catalogue.is_core(endpoint) {
        text.push_str("      enabled: true\n");
    }
    for (key, value) in keys.iter().filter(|(key, _)| !key.as_str().contains('.')) {
        let _ = writeln!(text, "      {}: {value}", key.as_str());
    }
    for section in words::sections() {
        let own: Vec<String> = keys
            .iter()
            .filter_map(|(key, value)| {
                let (its, name) = key.as_str().split_once('.')?;
                (its == section).then(|| format!("{name}: {value}"))
            })
            .collect();
        if own.is_empty() {
            continue;
        }
        let line = format!("      {section}: {{ {} }}", own.join(", "));
        if line.chars().count() <= 100 {
            let _ = writeln!(text, "{line}");
        } else {
            let _ = writeln!(text, "      {section}:");
            for entry in own {
                let _ = writeln!(text, "        {entry}");
            }
        }
    }
}

fn auth(text: &mut String, tokens: &[ResolvedToken]) {
    text.push_str("  auth:\n");
    if tokens.is_empty() {
        text.push_str("    tokens: []\n");
        return;
    }
    text.push_str("    tokens:\n");
    for token in tokens {
        let _ = writeln!(text, "      - id: {}", scalar(&token.id));
        if let Some(variable) = &token.token_env {
            let _ = writeln!(text, "        token_env: {}", scalar(variable));
        }
        if let Some(digest) = &token.token_sha256 {
            let _ = writeln!(text, "        token_sha256: \"{digest}\"");
        }
        let _ = writeln!(text, "        scopes: {}", flow(&token.scopes, false));
    }
}
