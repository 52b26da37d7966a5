//! The values of a compiled set, held to what the compiler accepts: each is put before the very reader that takes it from
//! a document.

use super::FormError;
use super::read::bad;
use super::shape::{Counted, Value};
use crate::diag::quoted;
use crate::endpoint::{Catalogue, IdGlob, KEYS, Key, KeyKind};
use crate::layer::{self, LayerKind, Selector, TokenSecret};
use crate::lower::{Context, auth, base_dir as base_dir_reader, presets, rule};
use crate::merge::conflict;
use crate::parse::{Entry, Node, NodeKind};
use crate::resolved::{List, Part, Resolved, ResolvedStatement, ResolvedToken, ResolvedValue, Text};
use crate::rules;
use crate::source::{SourceMap, Span};
use std::borrow::Cow;
use std::sync::Arc;

/// One statement: a value such that lowering would take it as it stands.
pub(super) fn statement(
    rule: &str,
    key: Key,
    value: &ResolvedValue,
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
    let known = match value {
        ResolvedValue::List(list) => match kind(key) {
            Some(KeyKind::Paths | KeyKind::PathsOrTrue) => rules::paths::are_direct(key, list),
            Some(KeyKind::Scopes) => rules::scopes::are_known(list),
            _ => false,
        },
        ResolvedValue::Bool(_) => kind(key) == Some(KeyKind::Bool),
        _ => false,
    };
    if known {
        return Ok(());
    }
    let sources = SourceMap::default();
    let mut cx = Context::new(&sources, Span::NOWHERE.source, catalogue);
    let read = rules::read(&mut cx, key, node(key, value));
    if let Some(found) = cx.finish().into_iter().next() {
        return fail(&found.message);
    }
    if read.is_some_and(|read| same(&read, value)) { Ok(()) } else { fail(rules::NOT_TAKEN) }
}

/// The value of a key as it was before it was written into `text`.
pub(super) fn unwritten(
    rule: &str,
    key: Key,
    value: Value<'_>,
    text: &Arc<Text>,
) -> Result<ResolvedValue, FormError> {
    Ok(match value {
        Value::Bool(value) => ResolvedValue::Bool(value),
        Value::Number(value) => ResolvedValue::Number(value),
        Value::Text(joined) if is_of_paths(key) => ResolvedValue::List(List::split(Part::of(text, &joined))),
        Value::Text(word) => ResolvedValue::Word(word.into_owned()),
        Value::Counted(Counted { entries, bytes, start, .. }) if is_of_paths(key) => {
            ResolvedValue::List(List::counted(Part::at(text, start, bytes), entries))
        }
        Value::Counted(_) => return Err(bad(&format!("{rule} {}", key.as_str()), rules::NOT_TAKEN)),
        Value::List(list) => ResolvedValue::List(list.clone()),
        Value::Read(list) => ResolvedValue::List(*list),
    })
}

/// Whether the lists of a key are of paths, and written in one text.
pub(super) fn is_of_paths(key: Key) -> bool {
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
    Node { kind, span: Span::NOWHERE, via: None }
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

/// A rule's name says its layer, and then what it was named for: its selector, its preset, its call.
pub(super) fn name(
    name: &str,
    layer: LayerKind,
    selector: &Selector,
    preset: Option<&str>,
) -> Result<(), FormError> {
    let rest = name.strip_prefix(layer.as_str()).and_then(|rest| rest.strip_prefix(':'));
    let Some(rest) = rest else { return Err(bad(name, "a rule's name begins with its layer")) };
    let fits = match (layer, selector) {
        (LayerKind::Policy, Selector::Glob(glob)) => {
            // A name that is a glob's without being one would win over groups.
            IdGlob::is_glob(glob) && rules::glob::check(glob).is_ok() && rule::is_name(selector, rest)
        }
        (LayerKind::Policy, _) => rule::is_name(selector, rest),
        (LayerKind::Preset, Selector::Glob(glob)) => IdGlob::is_glob(glob) && preset == Some(rest),
        (LayerKind::Preset, _) => preset == Some(rest),
        (LayerKind::Code, Selector::Group(group)) => call(rest).is_some_and(|(_, of)| of == group.as_str()),
        _ => false,
    };
    if fits { Ok(()) } else { Err(bad(name, "the name is not that of a rule with this selector")) }
}

/// A rule of the code says what its call does, and nothing else.
pub(super) fn switch<'a>(
    name: &str,
    mut said: impl Iterator<Item = &'a ResolvedStatement>,
) -> Result<(), FormError> {
    let enabled = name.split_once(':').and_then(|(_, rest)| call(rest)).map(|(enabled, _)| enabled);
    let first = said.next().filter(|said| said.key == Key::Enabled).map(|said| &said.value);
    match (first, enabled) {
        (Some(ResolvedValue::Bool(value)), Some(enabled)) if *value == enabled && said.next().is_none() => {
            Ok(())
        }
        _ => Err(bad(name, "the rule does not say what this call does")),
    }
}

/// `enable_group:NAME` and `disable_group:NAME`.
fn call(name: &str) -> Option<(bool, &str)> {
    let (verb, group) = name.split_once(':')?;
    match verb {
        "enable_group" => Some((true, group)),
        "disable_group" => Some((false, group)),
        _ => None,
    }
}

pub(super) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// The preset that the set names is the one whose file and rules it holds.
pub(super) fn preset(resolved: &Resolved) -> Result<(), FormError> {
    let mut files = resolved.files.iter().filter(|file| file.layer == LayerKind::Preset);
    let Some(name) = &resolved.preset else {
        return if files.next().is_none() {
            Ok(())
        } else {
            Err(bad("preset", "the file of a preset, and no preset"))
        };
    };
    let Some(preset) = presets::get(name) else {
        return Err(bad("preset", &format!("no preset {}", quoted(name))));
    };
    let own = files.next().is_some_and(|file| preset.file.ends_with(&file.name)) && files.next().is_none();
    let rules = resolved.rules.iter().any(|rule| rule.layer == LayerKind::Preset);
    if own && (rules || preset.is_empty()) {
        Ok(())
    } else {
        Err(bad("preset", &format!("the set does not hold the preset `{name}`")))
    }
}

pub(super) fn base_dir(path: &str, catalogue: &Catalogue) -> Result<(), FormError> {
    let sources = SourceMap::default();
    let mut cx = Context::new(&sources, Span::NOWHERE.source, catalogue);
    let read = base_dir_reader::read(&mut cx, at(text(path)));
    match cx.finish().into_iter().next() {
        None if read.is_some_and(|read| read.value == path) => Ok(()),
        found => Err(bad(
            "base_dir",
            &found.map_or_else(|| "not a directory in its plain form".to_owned(), |found| found.message),
        )),
    }
}

/// Each token as the list of a document would hold it.
pub(super) fn tokens(tokens: &[ResolvedToken], catalogue: &Catalogue) -> Result<(), FormError> {
    let sources = SourceMap::default();
    let mut cx = Context::new(&sources, Span::NOWHERE.source, catalogue);
    // A token's number stands for its place, by which a finding tells which it is about.
    let listed = (0..)
        .zip(tokens)
        .map(|(number, token)| entry(Span { start: number, end: number, ..Span::NOWHERE }, token));
    let read = auth::tokens(&mut cx, at(NodeKind::Seq(listed.collect()))).unwrap_or_default();
    if let Some(found) = cx.finish().into_iter().next() {
        let number = found.primary.map_or(0, |label| label.span.start);
        return Err(bad(&format!("auth.tokens[{number}]"), &found.message));
    }
    let same =
        read.len() == tokens.len() && read.iter().zip(tokens).all(|(read, token)| same_token(read, token));
    if same { Ok(()) } else { Err(bad("auth.tokens", "tokens that the compiler would not write so")) }
}

fn entry(span: Span, token: &ResolvedToken) -> Node<'_> {
    let node = |kind| Node { kind, span, via: None };
    let scopes = NodeKind::Seq(token.scopes.iter().map(|scope| node(text(scope))).collect());
    let secrets = [("token_env", &token.token_env), ("token_sha256", &token.token_sha256)];
    let secrets = secrets.into_iter().filter_map(|(key, value)| Some((key, text(value.as_deref()?))));
    let parts = [("id", text(&token.id)), ("scopes", scopes)].into_iter().chain(secrets);
    let parts = parts.map(|(key, kind)| Entry { key: Cow::Borrowed(key), key_span: span, value: node(kind) });
    node(NodeKind::Map(parts.collect()))
}

fn same_token(read: &layer::Token, token: &ResolvedToken) -> bool {
    let (env, sha256) = match &read.secret {
        TokenSecret::Env(name) => (Some(&name.value), None),
        TokenSecret::Sha256(digest) => (None, Some(&digest.value)),
    };
    read.id.value == token.id
        && read.scopes.iter().map(|scope| &scope.value).eq(&token.scopes)
        && (env, sha256) == (token.token_env.as_ref(), token.token_sha256.as_ref())
}
