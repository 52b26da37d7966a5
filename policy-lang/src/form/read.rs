//! Text to a merged policy. Every check of the compiler holds here again, since the file may have been made by anyone.

use super::head::SetText;
use super::places::Unpacker;
use super::tail::{Counts, PATHS};
use super::{FORMAT_VERSION, FormError, TAG, shape, values};
use crate::compile::CompileError;
use crate::diag::harmless_line;
use crate::endpoint::{Catalogue, CustomRoute, Group, Key, TABLE_FINGERPRINT};
use crate::layer::{LayerKind, Selector, Specificity};
use crate::layers::default;
use crate::merge::{index, lay};
use crate::resolved::{
    FileInfo, FilePlace, List, Resolved, ResolvedStatement, ResolvedToken, ResolvedValue, Rule, RuleIx, Text,
};
use crate::source::SourceMap;
use std::sync::Arc;

/// Reads a compiled set for this server's endpoint table. Its lists go on as parts of the text.
///
/// # Errors
/// The first thing that is wrong with it. Nothing of it is used then.
pub fn read(set: SetText, catalogue: &Catalogue) -> Result<Resolved, FormError> {
    read_with(set, catalogue, Paths::Read)
}

/// What becomes of the entries of path rules, of which most of a large set consists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paths {
    /// They are held to what the compiler accepts, as everything else is.
    Read,
    /// They are left unread, and wait for [`CompiledPolicy::prepare`].
    ///
    /// [`CompiledPolicy::prepare`]: crate::policy::CompiledPolicy::prepare
    Left,
}

/// [`read()`], with more to be said. Of a head the entries are left unread always.
pub(crate) fn read_with(set: SetText, catalogue: &Catalogue, paths: Paths) -> Result<Resolved, FormError> {
    match set {
        SetText::Whole(text) => {
            let text = Arc::new(text.into());
            resolve(open(&text)?, &text, catalogue, paths)
        }
        SetText::Head(head, again) => {
            let head = head.vouch()?;
            let mut body: shape::Body<'_> =
                serde_json::from_str(&head.json).map_err(|error| shapeless(&error))?;
            if body.paths.is_some() {
                return Err(FormError::Shape("duplicate field `paths`".to_owned()));
            }
            let counts = Counts::of(&mut body.rules, head.paths, head.length)?;
            let checksum = claim(&head.json)?.0.to_owned();
            let text = Arc::new(Text::later(move || counts.arrive(&checksum, again)));
            resolve(body, &text, catalogue, Paths::Left)
        }
    }
}

/// The whole of a set that is as its first line says, with the lists that its rules count.
pub(super) fn open(text: &Text) -> Result<shape::Body<'_>, FormError> {
    let text = text.as_str();
    verify(text)?;
    let length = u32::try_from(text.len()).map_err(|_| FormError::too_large())?;
    let mut body: shape::Body<'_> = serde_json::from_str(text).map_err(|error| shapeless(&error))?;
    let first = memchr::memmem::find(text.as_bytes(), PATHS.as_bytes());
    let first = first.and_then(|first| u32::try_from(first + PATHS.len()).ok());
    let (Some(first), Some(paths)) = (first, &body.paths) else {
        return Err(FormError::Shape("missing field `paths`".to_owned()));
    };
    Counts::of(&mut body.rules, first, length)?.hold(text, paths)?;
    Ok(body)
}

/// What a set says, whose lists stand in `text`.
pub(super) fn resolve(
    body: shape::Body<'_>,
    text: &Arc<Text>,
    catalogue: &Catalogue,
    paths: Paths,
) -> Result<Resolved, FormError> {
    if body.table != TABLE_FINGERPRINT {
        return Err(FormError::Table { found: body.table, expected: TABLE_FINGERPRINT.to_owned() });
    }
    // The checksum vouches for it as for the rest. Working it out anew would cost a fifth of the start.
    let revision = body.revision.clone();
    if !values::is_digest(&revision) {
        return Err(bad("revision", "a revision is 64 lower-case hex digits"));
    }
    let mut resolved = build(body, text, catalogue, paths)?;
    resolved.endpoints = index::index(&resolved, catalogue);
    values::agree(&resolved, catalogue)?;
    resolved.revision = revision;
    Ok(resolved)
}

/// That the first line is of this format, and vouches for the rest.
pub(super) fn verify(text: &str) -> Result<(), FormError> {
    let (checksum, body) = claim(text)?;
    vouched(checksum, crc32fast::hash(body.as_bytes()))
}

/// The checksum that the first line claims, and what it is of.
pub(super) fn claim(text: &str) -> Result<(&str, &str), FormError> {
    let Some((version, rest)) = text.strip_prefix(TAG).and_then(|rest| rest.split_once(',')) else {
        return Err(if super::is_compiled(text) { FormError::Header } else { FormError::NotCompiled });
    };
    if version != FORMAT_VERSION.to_string() {
        let found = version.chars().take(20).collect();
        return Err(FormError::Version { found, supported: FORMAT_VERSION });
    }
    let rest = rest.strip_prefix("\"crc32\":\"").and_then(|rest| rest.split_once("\",\n"));
    rest.ok_or(FormError::Checksum)
}

/// That the checksum which a set claims is the one it has.
pub(super) fn vouched(claimed: &str, found: u32) -> Result<(), FormError> {
    if super::hex(found) == claimed { Ok(()) } else { Err(FormError::Checksum) }
}

pub(super) fn shapeless(error: &serde_json::Error) -> FormError {
    FormError::Shape(error.to_string())
}

pub(super) fn build(
    body: shape::Body<'_>,
    text: &Arc<Text>,
    catalogue: &Catalogue,
    paths: Paths,
) -> Result<Resolved, FormError> {
    let mut resolved =
        Resolved { preset: body.preset, custom: custom(body.custom, catalogue)?, ..Resolved::default() };
    lay(&mut resolved, &default::layer(), &SourceMap::default());
    resolved.rules.reserve_exact(body.rules.len());
    resolved.statements.reserve_exact(body.rules.iter().map(|rule| rule.says.0.len()).sum());
    for file in body.files {
        let layer = layer("files", &file.layer)?;
        if file.name.contains('/') || !values::is_digest(&file.sha256) {
            return Err(bad("files", "a file has a name without directories and a digest"));
        }
        if harmless_line(&file.name) != file.name {
            return Err(bad("files", "a file has a name without control characters"));
        }
        resolved.files.push(FileInfo { name: file.name, layer, sha256: file.sha256 });
    }
    if let Some(dir) = body.base_dir {
        values::base_dir(&dir.path, catalogue)?;
        let at = one_place("base_dir", &dir.places, dir.file, &resolved.files)?;
        resolved.base_dir = Some((dir.path, at));
    }
    let mut below = LayerKind::Default;
    for rule in body.rules {
        below = take_rule(&mut resolved, rule, below, text, catalogue, paths)?;
    }
    values::preset(&resolved)?;
    if let Some(tokens) = body.tokens {
        let tokens = tokens.into_iter().map(|token| take_token(token, &resolved.files));
        let tokens = tokens.collect::<Result<Vec<_>, _>>()?;
        values::tokens(&tokens, catalogue)?;
        resolved.tokens = Some(tokens);
    }
    Ok(resolved)
}

/// Takes a rule in after the others and gives its layer, below which no later rule may fall.
fn take_rule(
    resolved: &mut Resolved,
    rule: shape::Rule<'_>,
    below: LayerKind,
    text: &Arc<Text>,
    catalogue: &Catalogue,
    paths: Paths,
) -> Result<LayerKind, FormError> {
    let at = &*rule.name;
    let layer = layer(at, &rule.layer)?;
    if layer < below {
        return Err(bad(at, "layers stand in their order, lowest first"));
    }
    let specificity =
        Specificity::from_name(&rule.specificity).ok_or_else(|| bad(at, "an unknown specificity"))?;
    let selector = Selector::read(specificity, &rule.selector, catalogue)
        .filter(|selector| !catalogue.matching(selector).is_empty())
        .ok_or_else(|| bad(at, &format!("no {} selector `{}`", specificity.as_str(), rule.selector)))?;
    values::name(&rule.name, layer, &selector, resolved.preset.as_deref())?;
    let mut places =
        Places { unpacker: Unpacker::new(&rule.places, known(at, rule.file, &resolved.files)?), at };
    let written = rule.file.is_some();
    let place = if written { places.pull()? } else { None };
    let ix = RuleIx(u32::try_from(resolved.rules.len()).unwrap_or(u32::MAX));
    let mut seen: Vec<Key> = Vec::new();
    for statement in rule.says.0 {
        let key =
            Key::from_name(&statement.key).ok_or_else(|| bad(at, &format!("no key `{}`", statement.key)))?;
        if seen.contains(&key) {
            return Err(bad(at, &format!("`{}` is said twice", statement.key)));
        }
        seen.push(key);
        let mut value = values::unwritten(at, key, statement.value, text)?;
        match &mut value {
            ResolvedValue::List(list) if paths == Paths::Left && values::is_of_paths(key) => {
                list.set_unread()
            }
            value => values::statement(at, key, value, &selector, catalogue)?,
        }
        let mut place = None;
        if written {
            place = places.pull()?;
            if let ResolvedValue::List(list) = &mut value {
                places.pull_list(list)?;
            }
        }
        resolved.statements.push(ResolvedStatement { key, value, rule: ix, at: place });
    }
    if !places.unpacker.finished() {
        return Err(bad(at, "more places than values"));
    }
    if layer == LayerKind::Code {
        let said = resolved.statements.iter().rev().take_while(|statement| statement.rule == ix);
        values::switch(at, said)?;
    }
    let (name, selector) = (rule.name, rule.selector);
    resolved.rules.push(Rule { name, layer, selector, specificity, at: place });
    Ok(layer)
}

/// The places of one rule.
struct Places<'a> {
    unpacker: Unpacker<'a>,
    at: &'a str,
}

impl Places<'_> {
    fn pull(&mut self) -> Result<Option<FilePlace>, FormError> {
        self.unpacker.pull().map_err(|_| self.unreadable())
    }

    fn pull_list(&mut self, list: &mut List) -> Result<(), FormError> {
        self.unpacker.pull_list(list).map_err(|_| self.unreadable())
    }

    fn unreadable(&self) -> FormError {
        bad(self.at, "places that cannot be read")
    }
}

fn take_token(token: shape::Token, files: &[FileInfo]) -> Result<ResolvedToken, FormError> {
    let at = one_place(&token.id, &token.places, token.file, files)?;
    let shape::Token { id, scopes, token_env, token_sha256, .. } = token;
    Ok(ResolvedToken { id, scopes, token_env, token_sha256, at })
}

fn custom(routes: Vec<shape::Custom>, catalogue: &Catalogue) -> Result<Vec<CustomRoute>, FormError> {
    let routes = routes.into_iter().map(|route| {
        let group = Group::from_name(&route.group).ok_or_else(|| bad(&route.id, "an unknown group"))?;
        Ok(CustomRoute { id: route.id, group, scopes: route.scopes })
    });
    let routes = routes.collect::<Result<Vec<_>, FormError>>()?;
    if routes == catalogue.custom() { Ok(routes) } else { Err(FormError::CustomRoutes) }
}

fn one_place(
    at: &str,
    packed: &str,
    file: Option<shape::FileIx>,
    files: &[FileInfo],
) -> Result<Option<FilePlace>, FormError> {
    let mut unpacker = Unpacker::new(packed, known(at, file, files)?);
    match unpacker.pull() {
        Ok(place) if unpacker.finished() => Ok(place),
        _ => Err(bad(at, "places that cannot be read")),
    }
}

/// A file that the set names.
fn known(at: &str, file: Option<shape::FileIx>, files: &[FileInfo]) -> Result<Option<u32>, FormError> {
    match file {
        Some(shape::FileIx(file)) if files.get(file as usize).is_none() => {
            Err(bad(at, "a file that the set does not name"))
        }
        file => Ok(file.map(|shape::FileIx(file)| file)),
    }
}

fn layer(at: &str, name: &str) -> Result<LayerKind, FormError> {
    match LayerKind::from_name(name) {
        Some(layer) if !matches!(layer, LayerKind::Default | LayerKind::Environment) => Ok(layer),
        _ => Err(bad(at, &format!("no layer `{name}` in a compiled set"))),
    }
}

/// What is wrong with a set that could be read and not compiled.
pub(crate) fn uncompiled(error: &CompileError) -> FormError {
    bad("policy", &error.to_string())
}

/// A value that the compiler would have refused.
pub(super) fn bad(at: &str, why: &str) -> FormError {
    FormError::Value { at: at.to_owned(), why: why.to_owned() }
}
