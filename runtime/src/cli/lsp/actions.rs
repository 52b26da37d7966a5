//! Fixes that an editor offers: every suggestion of a finding at the cursor, and all safe ones of the document at once.

use super::findings;
use super::session::Session;
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, TextEdit, Uri, WorkspaceEdit,
};
use policy_lang::diag::{Diagnostic as Finding, Edit, Level, Levels, Severity, Suggestion};
use policy_lang::fix::{mend, widens};
use policy_lang::source::Span;
use policy_lang::stages::{Document, Inputs};

/// What can be done about the findings in a range.
pub(super) fn actions(session: &mut Session, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let encoding = session.encoding;
    let catalogue = session.catalogue.clone();
    let uri = params.text_document.uri.clone();
    let Some((open, judged)) = session.document(&uri) else { return Vec::new() };
    let (text, outcome) = (&open.text, &judged.outcome);
    let (from, to) = (encoding.byte(text, params.range.start), encoding.byte(text, params.range.end));
    let here = |span: Span| span.start as usize <= to && from <= span.end as usize;
    let own = |edit: &Edit| Some(edit.span.source) == outcome.document;
    let change = |edits: &[Edit]| {
        let edits = edits.iter().map(|edit| TextEdit {
            range: encoding.range(text, edit.span.range()),
            new_text: edit.replacement.clone(),
        });
        of_document(&uri, edits.collect())
    };
    let wanted = |kind: &CodeActionKind| {
        params
            .context
            .only
            .as_ref()
            .is_none_or(|only| only.iter().any(|asked| kind.as_str().starts_with(asked.as_str())))
    };
    let mut actions = Vec::new();
    let touched = outcome
        .diagnostics
        .iter()
        .filter(|finding| finding.primary.as_ref().is_some_and(|label| here(label.span)));
    for finding in touched.filter(|_| wanted(&CodeActionKind::QUICKFIX)) {
        let shown = findings::diagnostic(&uri, text, outcome, finding, encoding);
        for (at, fix) in finding.suggestions.iter().enumerate().filter(|(_, fix)| fix.edits.iter().all(own)) {
            actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: sentence(&fix.message),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![shown.clone()]),
                edit: Some(change(&fix.edits)),
                is_preferred: Some(at == 0 && finding.suggestions.len() == 1),
                ..CodeAction::default()
            }));
        }
        if let Some(fix) = allow(finding, text) {
            actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: sentence(&fix.message),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![shown.clone()]),
                edit: Some(change(&fix.edits)),
                ..CodeAction::default()
            }));
        }
    }
    if wanted(&CodeActionKind::SOURCE_FIX_ALL) {
        let levels = Levels::default();
        let inputs = Inputs::new(&catalogue, &levels);
        let document = Document { name: open.name(), bytes: text.as_bytes(), format: open.format() };
        let fixed = mend(document, &inputs, &widens);
        if fixed.text != *text {
            let whole = TextEdit { range: encoding.range(text, 0..text.len()), new_text: fixed.text };
            actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: "Make every safe fix".to_owned(),
                kind: Some(CodeActionKind::SOURCE_FIX_ALL),
                edit: Some(of_document(&uri, vec![whole])),
                ..CodeAction::default()
            }));
        }
    }
    actions
}

fn of_document(uri: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    WorkspaceEdit {
        changes: Some(std::iter::once((uri.clone(), edits)).collect()),
        ..WorkspaceEdit::default()
    }
}

/// A comment above the line that leaves the finding out, with the reason to be filled in.
fn allow(finding: &Finding, text: &str) -> Option<Suggestion> {
    if finding.severity == Severity::Error || !Levels::default().set(finding.code, Level::Allow) {
        return None;
    }
    let span = finding.primary.as_ref()?.span;
    let start = text.get(..span.start as usize)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..)?;
    // JSON has no comments.
    if text.trim_start().starts_with('{') {
        return None;
    }
    let indent = line.get(..line.len() - line.trim_start_matches(' ').len())?;
    let comment = format!("{indent}# abx: allow {} REASON\n", finding.code.as_str());
    let at = u32::try_from(start).ok()?;
    let place = Span { start: at, end: at, ..span };
    Some(Suggestion::review(
        format!("leave `{}` out here, with a reason", finding.code.as_str()),
        place,
        comment,
    ))
}

fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
