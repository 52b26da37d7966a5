//! What is known of one client: how it counts, and the documents that it has open.

use super::findings;
use super::position::Encoding;
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions,
    HoverProviderCapability, InitializeParams, OneOf, PositionEncodingKind, ServerCapabilities,
    TextDocumentSyncCapability, TextDocumentSyncKind, Uri,
};
use policy_lang::diag::Levels;
use policy_lang::endpoint::Catalogue;
use policy_lang::parse::Format;
use policy_lang::stages::{Document, Inputs, Outcome, compile_document};
use serde_json::{Value, json};

/// A document that is open.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) uri: Uri,
    pub(super) text: String,
    version: Option<i32>,
    /// Judged as it is now; none after a change.
    judged: Option<Judged>,
    told: bool,
}

/// A document and what was found in it.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) outcome: Outcome,
}

/// One client.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) encoding: Encoding,
    pub(super) catalogue: Catalogue,
    documents: Vec<Open>,
}

impl Session {
    /// A client that has introduced itself.
    pub(super) fn new(params: &Value) -> Self {
        let params: InitializeParams = serde_json::from_value(params.clone()).unwrap_or_default();
        let offered =
            params.capabilities.general.and_then(|general| general.position_encodings).unwrap_or_default();
        let encoding =
            if offered.contains(&PositionEncodingKind::UTF8) { Encoding::Utf8 } else { Encoding::Utf16 };
        Self { encoding, catalogue: Catalogue::builtin(), documents: Vec::new() }
    }

    /// What this server can do.
    pub(super) fn introduction(&self) -> Value {
        let capabilities = ServerCapabilities {
            position_encoding: Some(match self.encoding {
                Encoding::Utf8 => PositionEncodingKind::UTF8,
                Encoding::Utf16 => PositionEncodingKind::UTF16,
            }),
            text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            definition_provider: Some(OneOf::Left(true)),
            document_formatting_provider: Some(OneOf::Left(true)),
            completion_provider: Some(CompletionOptions {
                trigger_characters: Some([":", "\"", "{", "[", ","].map(str::to_owned).to_vec()),
                ..CompletionOptions::default()
            }),
            code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
                code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, CodeActionKind::SOURCE_FIX_ALL]),
                ..CodeActionOptions::default()
            })),
            ..ServerCapabilities::default()
        };
        let server = json!({"name": "agent-sandbox-server", "version": env!("CARGO_PKG_VERSION")});
        json!({"capabilities": capabilities, "serverInfo": server})
    }

    /// Takes a notification. One that cannot be read is passed over: the next full text sets things right.
    pub(super) fn note(&mut self, method: &str, params: Value) {
        match method {
            "textDocument/didOpen" => {
                if let Ok(opened) = serde_json::from_value::<lsp_types::DidOpenTextDocumentParams>(params) {
                    let document = opened.text_document;
                    self.documents.retain(|open| open.uri != document.uri);
                    self.documents.push(Open {
                        uri: document.uri,
                        text: document.text,
                        version: Some(document.version),
                        judged: None,
                        told: false,
                    });
                }
            }
            "textDocument/didChange" => {
                if let Ok(changed) = serde_json::from_value::<lsp_types::DidChangeTextDocumentParams>(params)
                {
                    self.change(changed);
                }
            }
            "textDocument/didClose" => {
                if let Ok(closed) = serde_json::from_value::<lsp_types::DidCloseTextDocumentParams>(params) {
                    self.documents.retain(|open| open.uri != closed.text_document.uri);
                }
            }
            _ => {}
        }
    }

    fn change(&mut self, changed: lsp_types::DidChangeTextDocumentParams) {
        let encoding = self.encoding;
        let Some(open) = self.documents.iter_mut().find(|open| open.uri == changed.text_document.uri) else {
            return;
        };
        for change in changed.content_changes {
            match change.range {
                None => open.text = change.text,
                Some(range) => {
                    let (start, end) =
                        (encoding.byte(&open.text, range.start), encoding.byte(&open.text, range.end));
                    if start <= end {
                        open.text.replace_range(start..end, &change.text);
                    }
                }
            }
        }
        open.version = Some(changed.text_document.version);
        open.judged = None;
        open.told = false;
    }

    /// The findings of every document that changed, as notifications.
    pub(super) fn findings(&mut self) -> Vec<(String, Value)> {
        let (encoding, catalogue) = (self.encoding, &self.catalogue);
        let mut notifications = Vec::new();
        for open in self.documents.iter_mut().filter(|open| !open.told) {
            open.told = true;
            let judged = judge(open, catalogue);
            let params = findings::publish(&open.uri, &open.text, open.version, &judged.outcome, encoding);
            open.judged = Some(judged);
            notifications.push(("textDocument/publishDiagnostics".to_owned(), params));
        }
        notifications
    }

    /// A document as it is now, judged.
    pub(super) fn document(&mut self, uri: &Uri) -> Option<(&Open, &Judged)> {
        let catalogue = &self.catalogue;
        let open = self.documents.iter_mut().find(|open| open.uri == *uri)?;
        if open.judged.is_none() {
            open.judged = Some(judge(open, catalogue));
        }
        let open: &Open = open;
        Some((open, open.judged.as_ref()?))
    }
}

impl Open {
    /// Its name as findings print it.
    pub(super) fn name(&self) -> &str {
        self.uri.as_str().rsplit('/').next().unwrap_or_default()
    }

    /// How it is read.
    pub(super) fn format(&self) -> Format {
        let json =
            self.name().rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("json"));
        if json { Format::Json } else { Format::Yaml }
    }
}

fn judge(open: &Open, catalogue: &Catalogue) -> Judged {
    let levels = Levels::default();
    let inputs = Inputs::new(catalogue, &levels);
    let document = Document { name: open.name(), bytes: open.text.as_bytes(), format: open.format() };
    let mut outcome = compile_document(Some(document), &inputs);
    findings::adapt(&mut outcome, open.format(), catalogue);
    Judged { outcome }
}
