//! Every rule and every statement of the layers, once each, with its place counted out.

use crate::diag::harmless_line;
use crate::endpoint::Catalogue;
use crate::layer::{Block, Layer, LayerKind, TokenSecret, Value};
use crate::merge::{Merged, index};
use crate::resolved::{
    FileInfo, FilePlace, ListBuilder, Resolved, ResolvedStatement, ResolvedToken, ResolvedValue, Rule, RuleIx,
};
use crate::source::{SourceId, SourceMap, Span};
use std::collections::HashMap;

/// Takes the layers in, lowest first.
pub(crate) fn intern<'a>(layers: &'a [Layer], sources: &SourceMap) -> Merged<'a> {
    let mut order: Vec<&Layer> = layers.iter().collect();
    order.sort_by_key(|layer| layer.kind);
    let mut to = Merged { resolved: Resolved::default(), blocks: Vec::new(), statements: Vec::new() };
    let mut files = HashMap::new();
    for layer in order {
        take(&mut to, layer, sources, &mut files);
    }
    to
}

/// Puts one more layer on top of a policy that is already merged, as if it had been merged with the others: the
/// environment of the process over a compiled set.
pub fn overlay(resolved: &mut Resolved, layer: &Layer, sources: &SourceMap, catalogue: &Catalogue) {
    lay(resolved, layer, sources);
    resolved.endpoints = index::index(resolved, catalogue);
}

/// The same without the index, which whoever lays several does once.
pub(crate) fn lay(resolved: &mut Resolved, layer: &Layer, sources: &SourceMap) {
    let mut to = Merged { resolved: std::mem::take(resolved), blocks: Vec::new(), statements: Vec::new() };
    take(&mut to, layer, sources, &mut HashMap::new());
    *resolved = to.resolved;
}

fn take<'a>(to: &mut Merged<'a>, layer: &'a Layer, sources: &SourceMap, files: &mut HashMap<SourceId, u32>) {
    if let Some(source) = layer.source {
        file(&mut to.resolved, files, sources, source, layer.kind);
    }
    let mut place = |resolved: &mut Resolved, span: Option<Span>| {
        span.map(|span| {
            let file = file(resolved, files, sources, span.source, layer.kind);
            file_place(file, sources, span)
        })
    };
    for block in &layer.blocks {
        let at = place(&mut to.resolved, block.span);
        let rule = RuleIx(u32::try_from(to.resolved.rules.len()).unwrap_or(u32::MAX));
        to.resolved.rules.push(rule_of(layer.kind, block, at));
        to.blocks.push(block);
        for statement in &block.statements {
            let at = place(&mut to.resolved, statement.value_span.or(statement.key_span));
            let value = value(&statement.value, |span| place(&mut to.resolved, Some(span)));
            to.resolved.statements.push(ResolvedStatement { key: statement.key, value, rule, at });
            to.statements.push(statement);
        }
    }
    // The document's own wish may have been overruled: what counts is the preset that takes part.
    if let (LayerKind::Preset, Some(preset)) = (layer.kind, &layer.preset) {
        to.resolved.preset = Some(preset.value.clone());
    }
    if let Some(base_dir) = &layer.base_dir {
        let at = place(&mut to.resolved, Some(base_dir.span));
        to.resolved.base_dir = Some((base_dir.value.clone(), at));
    }
    if let Some(tokens) = &layer.tokens {
        let tokens = tokens.iter().map(|token| {
            let (token_env, token_sha256) = match &token.secret {
                TokenSecret::Env(name) => (Some(name.value.clone()), None),
                TokenSecret::Sha256(digest) => (None, Some(digest.value.clone())),
            };
            ResolvedToken {
                id: token.id.value.clone(),
                scopes: token.scopes.iter().map(|scope| scope.value.clone()).collect(),
                token_env,
                token_sha256,
                at: place(&mut to.resolved, Some(token.span)),
            }
        });
        to.resolved.tokens = Some(tokens.collect());
    }
}

fn rule_of(layer: LayerKind, block: &Block, at: Option<FilePlace>) -> Rule {
    Rule {
        name: format!("{}:{}", layer.as_str(), block.name),
        layer,
        selector: block.selector.to_string(),
        specificity: block.selector.specificity(),
        at,
    }
}

fn value(value: &Value, mut place: impl FnMut(Span) -> Option<FilePlace>) -> ResolvedValue {
    match value {
        Value::Bool(value) => ResolvedValue::Bool(*value),
        Value::Number(value) => ResolvedValue::Number(*value),
        Value::Word(value) => ResolvedValue::Word(value.clone()),
        Value::List(elements) => {
            let bytes = elements.iter().map(|element| element.value.len()).sum();
            let mut list = ListBuilder::with_room(elements.len(), bytes);
            elements.iter().for_each(|element| list.push(&element.value, place(element.span)));
            ResolvedValue::List(list.finish())
        }
    }
}

/// The index of the file that a text is, which is taken in when it is met first.
fn file(
    resolved: &mut Resolved,
    files: &mut HashMap<SourceId, u32>,
    sources: &SourceMap,
    source: SourceId,
    layer: LayerKind,
) -> u32 {
    *files.entry(source).or_insert_with(|| {
        let name = sources.name(source);
        resolved.files.push(FileInfo {
            // It stands in lines of ours wherever a place is named.
            name: harmless_line(name.rsplit('/').next().unwrap_or(name)).into_owned(),
            layer,
            sha256: FileInfo::digest(sources.text(source)),
        });
        u32::try_from(resolved.files.len() - 1).unwrap_or(u32::MAX)
    })
}

fn file_place(file: u32, sources: &SourceMap, span: Span) -> FilePlace {
    let place = sources.place(span);
    FilePlace {
        file,
        line: place.line,
        column: place.column,
        end_line: place.end_line,
        end_column: place.end_column,
        byte_start: place.byte_start,
        byte_end: place.byte_end,
    }
}
