//! Findings as an editor shows them.

use super::position::Encoding;
use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location,
    NumberOrString, PublishDiagnosticsParams, Uri,
};
use policy_lang::diag::{Code, Diagnostic as Finding, Severity};
use policy_lang::endpoint::Catalogue;
use policy_lang::parse::Format;
use policy_lang::source::Span;
use policy_lang::stages::Outcome;
use policy_lang::testing::{self, IN_TEMPLATE};
use serde_json::Value;

/// Adds what is wrong with a template's tests, and leaves out what is no news in an editor: a YAML file that is no policy.
pub(super) fn adapt(outcome: &mut Outcome, format: Format, catalogue: &Catalogue) {
    let Some(document) = outcome.document else { return };
    let text = outcome.sources.text(document);
    let suite = !text.contains(IN_TEMPLATE) && testing::has_suite(&outcome.sources, document);
    if suite {
        // A suite in a file of its own is no policy: its own mistakes alone count, and its policy is not at hand.
        let (_, found) = testing::read(&outcome.sources, document, format, catalogue);
        outcome.diagnostics = found;
        return;
    }
    let more = testing::findings(outcome, format, catalogue);
    outcome.diagnostics.extend(more);
    let no_policy =
        |finding: &Finding| finding.code == Code::RuleHasNoEffect && finding.severity == Severity::Info;
    if outcome.layer.is_absent {
        outcome.diagnostics.retain(|finding| !no_policy(finding));
    }
}

/// The findings of a document, as the notification's members.
pub(super) fn publish(
    uri: &Uri,
    text: &str,
    version: Option<i32>,
    outcome: &Outcome,
    encoding: Encoding,
) -> Value {
    let shown = outcome.diagnostics.iter().map(|finding| diagnostic(uri, text, outcome, finding, encoding));
    let params = PublishDiagnosticsParams { uri: uri.clone(), diagnostics: shown.collect(), version };
    serde_json::to_value(params).unwrap_or_default()
}

/// One finding. One about no place stands at the top.
pub(super) fn diagnostic(
    uri: &Uri,
    text: &str,
    outcome: &Outcome,
    finding: &Finding,
    encoding: Encoding,
) -> Diagnostic {
    let own = |span: Span| Some(span.source) == outcome.document;
    let range = |span: Span| encoding.range(text, span.range());
    let primary = finding.primary.as_ref().filter(|label| own(label.span));
    let message = match &finding.help {
        Some(help) => format!("{}\n{help}", finding.message),
        None => finding.message.clone(),
    };
    let related =
        finding.related.iter().filter(|label| own(label.span)).map(|label| DiagnosticRelatedInformation {
            location: Location { uri: uri.clone(), range: range(label.span) },
            message: label.message.clone(),
        });
    let related: Vec<DiagnosticRelatedInformation> = related.collect();
    let faded = matches!(finding.code, Code::DeadRule | Code::RuleNeverWins | Code::UnusedLintLevel);
    Diagnostic {
        range: primary.map_or_else(|| encoding.range(text, 0..0), |label| range(label.span)),
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Info => DiagnosticSeverity::HINT,
        }),
        code: Some(NumberOrString::String(finding.code.as_str().to_owned())),
        code_description: None::<CodeDescription>,
        source: Some("agent-sandbox-server".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: faded.then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: None,
    }
}
