//! The values of a compiled set, held to what the compiler accepts: each is put before the very reader that takes it from
//! a document.

use super::FormError;
use super::read::bad;
use super::shape::Value;
use crate::endpoint::{Catalogue, KEYS, Key, KeyKind};
use crate::layer::{self, LayerKind, Selector};
use crate::lower::{Context, base_dir as base_dir_reader, presets};
use crate::merge::conflict;
use crate::parse::{Node, NodeKind};
use crate::resolved::{List, Part, Resolved, ResolvedToken, ResolvedValue};
use crate::rules;
use crate::scope::ScopeSet;
use crate::source::{SourceId, SourceMap, Span};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A place in no text: what is read here has places of its own, and no finding is shown with one.
const NOWHERE: Span = Span { source: SourceId(0), start: 0, end: 0 };

/// One statement: a value such that lowering would take it as it stands.
pub(super) fn statement(
    rule: &str,
    key: Key,
    value: &mut ResolvedValue,
    selector: &Selector,
    catalogue: &Catalogue,
) -> Result<(), FormError> {
    let fail = |why: &str| Err(bad(&format!("{rule} {}", key.as_str()), why));
    let closes = key == Key::Enabled && *value == ResolvedValue::Bool(false);
    if closes
        && !selector.passes_core_over()
        && catalogue.matching(selector).iter().any(|ix| catalogue.is_core(*ix))
    {
        return fail("core endpoints cannot be closed");
    }
    // Most of a large set: what needs no reader to be known for what it is.
    let known = match &mut *value {
        ResolvedValue::List(list) => is_joined(key) && rules::paths::are_direct(key, list),
        ResolvedValue::Bool(_) => kind(key) == Some(KeyKind::Bool),
        _ => false,
    };
    if known {
        return Ok(());
    }
    let sources = SourceMap::default();
    let mut cx = Context::new(&sources, NOWHERE.source, catalogue);
    let read = rules::read(&mut cx, key, node(key, value));
    if let Some(found) = cx.finish().into_iter().next() {
        return fail(&found.message);
    }
    if read.is_some_and(|read| same(&read, value)) {
        Ok(())
    } else {
        fail("a value that the key does not take")
    }
}

/// The value of a key as it was before it was written into `text`.
pub(super) fn unwritten(key: Key, value: Value<'_>, text: &Arc<String>) -> ResolvedValue {
    match value {
        Value::Bool(value) => ResolvedValue::Bool(value),
        Value::Number(value) => ResolvedValue::Number(value),
        Value::Text(joined) if is_joined(key) => ResolvedValue::List(List::split(Part::of(text, &joined))),
        Value::Text(word) => ResolvedValue::Word(word.into_owned()),
        Value::List(list) => ResolvedValue::List(list.clone()),
        Value::Read(list) => ResolvedValue::List(*list),
    }
}

/// Whether the lists of a key are written in one text.
pub(super) fn is_joined(key: Key) -> bool {
    matches!(kind(key), Some(KeyKind::Paths | KeyKind::PathsOrTrue))
}

fn kind(key: Key) -> Option<KeyKind> {
    KEYS.get(key.index()).map(|decl| decl.kind)
}

/// The value as a document would hold it. Numbers of lists are kept as text, and written as numbers.
fn node(key: Key, value: &ResolvedValue) -> Node<'_> {
    let numbers = matches!(kind(key), Some(KeyKind::Ports | KeyKind::Signals));
    at(match value {
        ResolvedValue::Bool(value) => NodeKind::Bool(*value),
        ResolvedValue::Number(value) => i64::try_from(*value).map_or(NodeKind::Invalid, NodeKind::Int),
        ResolvedValue::Word(word) => text(word),
        ResolvedValue::List(list) => NodeKind::Seq(
            list.values()
                .map(|value| match numbers.then(|| value.parse()) {
                    Some(Ok(number)) => at(NodeKind::Int(number)),
                    _ => at(text(value)),
                })
                .collect(),
        ),
    })
}

const fn at(kind: NodeKind<'_>) -> Node<'_> {
    Node { kind, span: NOWHERE, via: None }
}

fn text(text: &str) -> NodeKind<'_> {
    NodeKind::Text { text: Cow::Borrowed(text), quoted: true }
}

/// Whether what was read is what the set says: a set holds values in the form that lowering gives them.
fn same(read: &layer::Value, value: &ResolvedValue) -> bool {
    match (read, value) {
        (layer::Value::Bool(read), ResolvedValue::Bool(value)) => read == value,
        (layer::Value::Number(read), ResolvedValue::Number(value)) => read == value,
        (layer::Value::Word(read), ResolvedValue::Word(value)) => read == value,
        (layer::Value::List(read), ResolvedValue::List(value)) => {
            read.len() == value.len()
                && read.iter().zip(value.values()).all(|(read, value)| read.value == value)
        }
        _ => false,
    }
}

/// Rules that conflict on an endpoint, as `conflicting-globs` refuses them.
pub(super) fn agree(resolved: &Resolved, catalogue: &Catalogue) -> Result<(), FormError> {
    match conflict::pairs(resolved).into_iter().next() {
        None => Ok(()),
        Some((_, endpoints)) => {
            let name = endpoints.first().map_or("", |ix| catalogue.name(*ix));
            Err(bad(name, "two equally specific rules of one layer say different values"))
        }
    }
}

/// A rule's name begins with its layer and goes on.
pub(super) fn name(name: &str, layer: LayerKind) -> Result<(), FormError> {
    let rest = name.strip_prefix(layer.as_str()).and_then(|rest| rest.strip_prefix(':'));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.contains(char::is_control) => Ok(()),
        _ => Err(bad(name, "a rule's name begins with its layer")),
    }
}

pub(super) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

pub(super) fn preset(name: &str) -> Result<(), FormError> {
    if presets::get(name).is_some() { Ok(()) } else { Err(bad("preset", &format!("no preset `{name}`"))) }
}

pub(super) fn base_dir(path: &str, catalogue: &Catalogue) -> Result<(), FormError> {
    let sources = SourceMap::default();
    let mut cx = Context::new(&sources, NOWHERE.source, catalogue);
    let read = base_dir_reader::read(&mut cx, at(text(path)));
    match cx.finish().into_iter().next() {
        None if read.is_some_and(|read| read.value == path) => Ok(()),
        found => Err(bad(
            "base_dir",
            &found.map_or_else(|| "not a directory in its plain form".to_owned(), |found| found.message),
        )),
    }
}

pub(super) fn tokens(tokens: &[ResolvedToken]) -> Result<(), FormError> {
    let mut ids = BTreeSet::new();
    for token in tokens {
        if token.id.is_empty() || !ids.insert(&token.id) {
            return Err(bad(&token.id, "a token has an id of its own"));
        }
        if token.token_env.is_some() == token.token_sha256.is_some() {
            return Err(bad(&token.id, "a token has either `token_env` or `token_sha256`"));
        }
        if token.token_sha256.as_deref().is_some_and(|digest| !is_digest(digest)) {
            return Err(bad(&token.id, "`token_sha256` is 64 lower-case hex digits"));
        }
        if let Err(scope) = ScopeSet::parse(token.scopes.iter().map(String::as_str)) {
            return Err(bad(&token.id, &format!("no scope `{scope}`")));
        }
    }
    Ok(())
}
