//! From the outcome of a compilation to the report: places counted out, levels and names as words.

use super::{
    EditView, Finding, Input, PlaceView, Policy, Related, Report, SCHEMA_VERSION, Skipped, SuggestionView,
    Summary,
};
use crate::cli::Exit;
use crate::cli::failure::Failure;
use policy_lang::diag::{Applicability, Diagnostic, Severity, Suggestion};
use policy_lang::endpoint::Catalogue;
use policy_lang::layer::LayerKind;
use policy_lang::resolved::FileInfo;
use policy_lang::source::{SourceMap, Span};
use policy_lang::stages::Outcome;

impl Report {
    /// A report in which nothing was found yet.
    #[must_use]
    pub(in crate::cli) fn new(command: &'static str, strict: bool) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            tool_version: env!("CARGO_PKG_VERSION"),
            command,
            strict,
            exit_code: Exit::Success.code(),
            verdict: Exit::Success.verdict(),
            exit: Exit::Success,
            subjects: Vec::new(),
            inputs: Vec::new(),
            policy: None,
            summary: Summary::default(),
            findings: Vec::new(),
            skipped_checks: Vec::new(),
            endpoints: None,
            explain: None,
            fixes: Vec::new(),
            tests: None,
            help: None,
            message: None,
        }
    }

    /// Sets how the run ended. The worst so far stays.
    pub(in crate::cli) fn end(&mut self, exit: Exit) {
        if exit.code() > self.exit_code {
            self.exit = exit;
            self.exit_code = exit.code();
            self.verdict = exit.verdict();
        }
    }

    /// Ends with a failure that has no document.
    pub(in crate::cli) fn fail(&mut self, exit: Exit, message: impl Into<String>) {
        self.end(exit);
        self.message.get_or_insert_with(|| message.into());
    }

    /// The same, with what to do about it.
    pub(in crate::cli) fn refuse(&mut self, failure: Failure) {
        self.end(failure.exit);
        if self.message.is_none() {
            (self.message, self.help) = (Some(failure.message), failure.help);
        }
    }

    /// Takes in what one document yielded; `name` is how the command line named it.
    pub(in crate::cli) fn add(&mut self, outcome: &Outcome) {
        self.inputs.extend(inputs(outcome));
        self.findings(&outcome.sources, &outcome.diagnostics);
    }

    /// Takes in findings alone, at the levels that the caller asked for.
    pub(in crate::cli) fn findings(&mut self, sources: &SourceMap, findings: &[Diagnostic]) {
        for finding in findings {
            self.summary.count(finding.severity, finding.counts());
            self.findings.push(view(sources, finding));
        }
        if findings.iter().any(|finding| finding.severity == Severity::Error) {
            self.end(Exit::Failure);
        }
    }

    /// Names the texts of a tested policy.
    pub(in crate::cli) fn tested(&mut self, outcome: &Outcome) {
        self.inputs.extend(inputs(outcome));
    }

    /// Takes in a finding that is an error.
    pub(in crate::cli) fn find(&mut self, finding: Finding) {
        self.summary.count(Severity::Error, 1);
        self.findings.push(finding);
        self.end(Exit::Failure);
    }

    /// Says what the one document resolves to, and with `keys` every key of every endpoint.
    pub(in crate::cli) fn resolve(&mut self, outcome: &Outcome, catalogue: &Catalogue, keys: bool) {
        let Some(policy) = &outcome.policy else { return };
        self.policy = Some(Policy {
            preset: policy.preset().to_owned(),
            base_dir: policy.base_dir().to_owned(),
            revision: policy.revision().to_owned(),
        });
        self.endpoints = keys.then(|| super::keys::endpoints(policy, catalogue));
    }

    /// Names a check that was not made.
    pub(in crate::cli) fn skip(&mut self, check: &'static str, why: &str) {
        self.skipped_checks.push(Skipped { check, why: why.to_owned() });
    }

    /// The exit status as a type.
    pub(in crate::cli) const fn exit(&self) -> Exit {
        self.exit
    }
}

impl Summary {
    fn count(&mut self, severity: Severity, count: usize) {
        match severity {
            Severity::Error => self.errors += count,
            Severity::Warning => self.warnings += count,
            Severity::Info => self.infos += count,
        }
    }
}

/// The texts of a policy that compiled; of one that did not, the author's document, for the rest may not have been read.
fn inputs(outcome: &Outcome) -> Vec<Input> {
    let document = outcome.document.map(|id| (outcome.sources.name(id), outcome.sources.text(id)));
    let Some(resolved) = outcome.resolved() else {
        let input = |(name, text): (&str, &str)| Input {
            name: name.to_owned(),
            layer: outcome.layer.kind.as_str(),
            sha256: FileInfo::digest(text),
        };
        return document.map(input).into_iter().collect();
    };
    let name = |file: &FileInfo| match (file.layer, document) {
        (LayerKind::Policy, Some((name, _))) => name.to_owned(),
        _ => file.name.clone(),
    };
    (resolved.files.iter())
        .map(|file| Input { name: name(file), layer: file.layer.as_str(), sha256: file.sha256.clone() })
        .collect()
}

fn view(sources: &SourceMap, finding: &Diagnostic) -> Finding {
    Finding {
        code: finding.code.as_str(),
        level: finding.severity.as_str(),
        message: finding.message.clone(),
        help: finding.help.clone(),
        primary: finding.primary.as_ref().map(|label| place(sources, label.span)),
        related: (finding.related.iter())
            .map(|label| Related { place: place(sources, label.span), message: label.message.clone() })
            .collect(),
        affects: finding.affects.iter().map(|id| id.as_str().to_owned()).collect(),
        suggestions: finding.suggestions.iter().map(|fix| suggestion(sources, fix)).collect(),
    }
}

/// A suggestion with its edits counted out.
pub(in crate::cli) fn suggestion(sources: &SourceMap, fix: &Suggestion) -> SuggestionView {
    SuggestionView {
        message: fix.message.clone(),
        applicability: match fix.applicability {
            Applicability::Safe => "safe",
            Applicability::Review => "review",
        },
        edits: (fix.edits.iter())
            .map(|edit| EditView {
                file: sources.name(edit.span.source).to_owned(),
                byte_start: edit.span.start,
                byte_end: edit.span.end,
                replacement: edit.replacement.clone(),
            })
            .collect(),
    }
}

/// A span as the report shows it.
pub(in crate::cli) fn place(sources: &SourceMap, span: Span) -> PlaceView {
    let place = sources.place(span);
    PlaceView {
        file: sources.name(span.source).to_owned(),
        line: place.line,
        column: place.column,
        end_line: place.end_line,
        end_column: place.end_column,
        byte_start: place.byte_start,
        byte_end: place.byte_end,
    }
}
