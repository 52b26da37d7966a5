//! Requests and their answers.

use super::actions;
use super::session::Session;
use lsp_types::{
    CodeActionParams, CompletionItem, CompletionItemKind, CompletionParams, CompletionTextEdit,
    DocumentFormattingParams, GotoDefinitionParams, Hover, HoverContents, HoverParams, Location,
    MarkupContent, MarkupKind, TextDocumentPositionParams, TextEdit, Uri,
};
use policy_lang::assist::{self, ItemKind};
use policy_lang::layer::LayerKind;
use policy_lang::lower::presets;
use policy_lang::parse;
use policy_lang::resolved::FilePlace;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::io::Write;
use std::str::FromStr;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// Nothing answers this.
    Unknown,
    /// The parameters are not what the protocol says.
    Malformed(String),
}

pub(super) fn answer(session: &mut Session, method: &str, params: Value) -> Result<Value, Unanswered> {
    let value = match method {
        "textDocument/hover" => {
            let params: HoverParams = read(params)?;
            json!(hover(session, &params.text_document_position_params))
        }
        "textDocument/completion" => {
            let params: CompletionParams = read(params)?;
            json!(completion(session, &params.text_document_position))
        }
        "textDocument/definition" => {
            let params: GotoDefinitionParams = read(params)?;
            json!(definition(session, &params.text_document_position_params))
        }
        "textDocument/formatting" => {
            let params: DocumentFormattingParams = read(params)?;
            json!(formatting(session, &params.text_document.uri))
        }
        "textDocument/codeAction" => {
            let params: CodeActionParams = read(params)?;
            json!(actions::actions(session, &params))
        }
        _ => return Err(Unanswered::Unknown),
    };
    Ok(value)
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Unanswered> {
    serde_json::from_value(params).map_err(|error| Unanswered::Malformed(error.to_string()))
}

/// What is said about the word at a position, and its range.
fn told(session: &mut Session, at: &TextDocumentPositionParams) -> Option<(assist::Hover, lsp_types::Range)> {
    let (encoding, catalogue) = (session.encoding, session.catalogue.clone());
    let (open, judged) = session.document(&at.text_document.uri)?;
    let outcome = &judged.outcome;
    let byte = encoding.byte(&open.text, at.position);
    let (root, _) = parse::policy(&outcome.sources, outcome.document?, open.format());
    let hover = assist::hover(&root?, u32::try_from(byte).ok()?, outcome.policy.as_ref(), &catalogue)?;
    let range = encoding.range(&open.text, hover.span.range());
    Some((hover, range))
}

fn hover(session: &mut Session, at: &TextDocumentPositionParams) -> Option<Hover> {
    let (hover, range) = told(session, at)?;
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: hover.text });
    Some(Hover { contents, range: Some(range) })
}

fn completion(session: &mut Session, at: &TextDocumentPositionParams) -> Vec<CompletionItem> {
    let (encoding, catalogue) = (session.encoding, session.catalogue.clone());
    let Some((open, _)) = session.document(&at.text_document.uri) else { return Vec::new() };
    let byte = encoding.byte(&open.text, at.position);
    let Some(place) = assist::at(&open.text, byte) else { return Vec::new() };
    let range = encoding.range(&open.text, place.start..byte);
    let behind = open.text.get(byte..).unwrap_or_default();
    let colon = !behind.trim_start_matches(['"', '\'']).starts_with(':');
    let items = assist::complete(&place, &catalogue).into_iter().enumerate();
    items
        .map(|(order, item)| {
            let quote = if item.quoted && !place.quoted { "\"" } else { "" };
            let tail = match item.kind {
                ItemKind::Key if colon && !place.quoted => ": ",
                ItemKind::Section if colon && !place.quoted => ":",
                _ => "",
            };
            CompletionItem {
                label: item.label.clone(),
                kind: Some(match item.kind {
                    ItemKind::Section => CompletionItemKind::MODULE,
                    ItemKind::Key => CompletionItemKind::PROPERTY,
                    ItemKind::Selector => CompletionItemKind::FUNCTION,
                    ItemKind::Value => CompletionItemKind::VALUE,
                }),
                detail: (!item.detail.is_empty()).then_some(item.detail),
                sort_text: Some(format!("{order:04}")),
                text_edit: Some(CompletionTextEdit::Edit(TextEdit {
                    range,
                    new_text: format!("{quote}{}{quote}{tail}", item.label),
                })),
                ..CompletionItem::default()
            }
        })
        .collect()
}

/// Where the rule stands that says what holds: in this document, or in a preset, of which a copy is written to be shown.
fn definition(session: &mut Session, at: &TextDocumentPositionParams) -> Option<Location> {
    let encoding = session.encoding;
    let (hover, _) = told(session, at)?;
    let (open, judged) = session.document(&at.text_document.uri)?;
    if let Some(name) = hover.preset {
        let preset = presets::get(name)?;
        return Some(Location { uri: shown(preset)?, range: encoding.range(preset.text, 0..0) });
    }
    let place: FilePlace = hover.rule?;
    let policy = judged.outcome.policy.as_ref()?;
    let file = policy.resolved().files.get(place.file as usize)?;
    let bytes = place.byte_start as usize..place.byte_end as usize;
    match file.layer {
        LayerKind::Policy => {
            Some(Location { uri: open.uri.clone(), range: encoding.range(&open.text, bytes) })
        }
        LayerKind::Preset => {
            let preset = presets::get(policy.preset())?;
            Some(Location { uri: shown(preset)?, range: encoding.range(preset.text, bytes) })
        }
        _ => None,
    }
}

/// The text of a preset as a file, for editors to open: presets are part of this program.
fn shown(preset: &presets::Preset) -> Option<Uri> {
    let folder = std::env::temp_dir().join(format!("agent-sandbox-server-{}", env!("CARGO_PKG_VERSION")));
    let path = folder.join(format!("preset-{}.yaml", preset.name));
    if !std::fs::read(&path).is_ok_and(|bytes| bytes == preset.text.as_bytes()) {
        std::fs::create_dir_all(&folder).ok()?;
        // The folder is everybody's: what another has put there is neither followed nor written over.
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path).ok()?;
        file.write_all(preset.text.as_bytes()).ok()?;
    }
    Uri::from_str(&format!("file://{}", path.to_str()?)).ok()
}

fn formatting(session: &mut Session, uri: &Uri) -> Option<Vec<TextEdit>> {
    let encoding = session.encoding;
    let (open, _) = session.document(uri)?;
    let formatted = policy_lang::fmt::format(open.name(), &open.text, open.format()).ok()?;
    if formatted == open.text {
        return Some(Vec::new());
    }
    Some(vec![TextEdit { range: encoding.range(&open.text, 0..open.text.len()), new_text: formatted }])
}
