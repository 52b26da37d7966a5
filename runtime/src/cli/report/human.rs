//! The report for people: each finding with its line, then one sentence that sums up, then the explanation.

use super::Report;
use crate::cli::check_config::Source;
use policy_lang::diag::{Diagnostic, harmless_line};
use policy_lang::render::{self, RenderOptions};
use policy_lang::source::SourceMap;
use policy_lang::stages::Outcome;
use std::borrow::Cow;
use std::fmt::Write;

/// What only people see: findings are drawn while the texts are at hand.
#[derive(Debug)]
pub(in crate::cli) struct View {
    options: RenderOptions,
    findings: String,
    notes: Vec<String>,
    explanation: Option<String>,
    patch: String,
}

impl View {
    /// An empty view.
    pub(in crate::cli) fn new(colour: bool) -> Self {
        let options = RenderOptions { color: colour, ..RenderOptions::default() };
        Self { options, findings: String::new(), notes: Vec::new(), explanation: None, patch: String::new() }
    }

    /// Draws the findings of one document.
    pub(in crate::cli) fn add(&mut self, source: &Source, outcome: &Outcome, preset: Option<&str>) {
        if let Some(found) = &source.found {
            self.notes.push(format!("checking what `serve` would load here: {found}"));
        }
        if let Some(preset) = preset {
            self.notes.push(format!("--preset {preset} replaces the preset of {}", source.name));
        }
        self.findings(outcome);
    }

    /// Draws the findings of a run alone.
    pub(in crate::cli) fn findings(&mut self, outcome: &Outcome) {
        self.drawn(&outcome.sources, &outcome.diagnostics);
    }

    /// Draws findings.
    pub(in crate::cli) fn drawn(&mut self, sources: &SourceMap, findings: &[Diagnostic]) {
        if !self.findings.is_empty() && !findings.is_empty() {
            self.findings.push('\n');
        }
        self.findings.push_str(&render::human(sources, findings, self.options));
    }

    /// Says something before the findings.
    pub(in crate::cli) fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// Takes a patch to be shown.
    pub(in crate::cli) fn patch(&mut self, patch: &str) {
        self.patch.push_str(patch);
    }

    /// Takes the text of an explanation.
    pub(in crate::cli) fn explain(&mut self, text: String) {
        self.explanation = Some(text);
    }

    /// The whole page.
    pub(in crate::cli) fn render(&self, report: &Report) -> String {
        let mut page = String::new();
        for note in &self.notes {
            let _ = writeln!(page, "{}", harmless_line(note));
        }
        let more = !self.patch.is_empty() || !self.findings.is_empty();
        if more && !self.notes.is_empty() {
            page.push('\n');
        }
        page.push_str(&self.patch);
        if !self.patch.is_empty() && !self.findings.is_empty() {
            page.push('\n');
        }
        page.push_str(&self.findings);
        if let Some(explanation) = &self.explanation {
            if !page.is_empty() {
                page.push('\n');
            }
            page.push_str(explanation);
            page.push('\n');
        }
        if report.message.is_none() || !report.inputs.is_empty() {
            if !self.findings.is_empty() && self.explanation.is_none() {
                page.push('\n');
            }
            page.push_str(&summary(report));
        }
        page
    }
}

/// `template.yaml: clean`, or what was found; then what was not looked at.
fn summary(report: &Report) -> String {
    let names = report.subjects.join(", ");
    let subject = if names.is_empty() { Cow::Borrowed("policy") } else { harmless_line(&names) };
    let counted = &report.summary;
    let counts: Vec<String> =
        [(counted.errors, "error"), (counted.warnings, "warning"), (counted.infos, "remark")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}{}", if count == 1 { "" } else { "s" }))
            .collect();
    let mut text = if counts.is_empty() {
        format!("{subject}: clean\n")
    } else {
        let verdict = if report.exit_code == 0 { "not clean, but nothing that fails: " } else { "" };
        format!("{subject}: {verdict}{}\n", counts.join(", "))
    };
    for skipped in &report.skipped_checks {
        let _ = writeln!(text, "not checked: {}: {}", skipped.check, skipped.why);
    }
    text
}
