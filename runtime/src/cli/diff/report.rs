//! A comparison as one value; every format is a view of it.
//!
//! The shape of its JSON is public (`schemas/diff-report.schema.json`).

use super::accept::{File, today};
use super::load::Loaded;
use super::view;
use crate::cli::Exit;
use crate::cli::report::build::place;
use crate::cli::report::{Finding, Report, SCHEMA_VERSION};
use policy_lang::diag::{Label, Severity, harmless_line};
use policy_lang::diff::accept::{self, Entry};
use policy_lang::diff::{Change, Diff, Shown, groups, human};
use policy_lang::render::{self, Remark, RenderOptions};
use policy_lang::stages::Outcome;
use serde_json::{Value, json};
use std::fmt::Write;

/// Two texts and what changed between them.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) old: Loaded,
    pub(super) new: Loaded,
    pub(super) diff: Diff,
}

/// One run of `diff`.
#[derive(Debug)]
pub(super) struct DiffReport {
    /// How it ended, and the findings about documents and the accept file.
    pub(super) base: Report,
    pub(super) compared: Vec<Comparison>,
    /// Files that only one side has.
    pub(super) added: Vec<String>,
    pub(super) removed: Vec<String>,
    deny_widening: bool,
    options: RenderOptions,
    accepted: File,
    today: String,
    /// The findings, drawn.
    drawn: String,
}

impl DiffReport {
    pub(super) fn new(deny_widening: bool, colour: bool) -> Self {
        Self {
            base: Report::new("diff", false),
            compared: Vec::new(),
            added: Vec::new(),
            removed: Vec::new(),
            deny_widening,
            options: RenderOptions { color: colour, ..RenderOptions::default() },
            accepted: File::default(),
            today: today(),
            drawn: String::new(),
        }
    }

    pub(super) fn take(&mut self, file: File) {
        self.accepted = file;
    }

    /// Takes in a document that could not be compiled.
    pub(super) fn refused(&mut self, outcome: &Outcome) {
        self.base.add(outcome);
        self.draw(&render::human(&outcome.sources, &outcome.diagnostics, self.options));
    }

    /// Settles how it ended, once everything is compared.
    pub(super) fn finish(&mut self) {
        let widened: Vec<&Change> = self.compared.iter().flat_map(|one| one.diff.widened()).collect();
        let open = widened.iter().any(|change| self.entry(change).is_none());
        let mut faults = self.accepted.faults.clone();
        // Where a side could not be read nobody knows which entries are used.
        if self.base.findings.is_empty() && self.base.message.is_none() {
            faults.extend(accept::faults(&self.accepted.entries, &widened, &self.today));
        }
        for fault in faults {
            let drawn = render::remark(
                &self.accepted.sources,
                &Remark {
                    severity: Severity::Error,
                    code: fault.code,
                    message: &fault.message,
                    primary: Some(Label { span: fault.span, message: String::new() }),
                    related: Vec::new(),
                    notes: vec![format!("help: {}", fault.help)],
                },
                self.options,
            );
            self.draw(&drawn);
            self.base.find(Finding {
                code: fault.code,
                level: "error",
                message: fault.message,
                help: Some(fault.help.to_owned()),
                primary: Some(place(&self.accepted.sources, fault.span)),
                related: Vec::new(),
                affects: Vec::new(),
                suggestions: Vec::new(),
            });
        }
        if open && self.deny_widening {
            self.base.end(Exit::Widened);
        }
    }

    fn draw(&mut self, text: &str) {
        if !self.drawn.is_empty() && !text.is_empty() {
            self.drawn.push('\n');
        }
        self.drawn.push_str(text);
    }

    /// The entry that lets a change through.
    fn entry(&self, change: &Change) -> Option<&Entry> {
        let opens = change.verdict.opens();
        self.accepted.entries.iter().find(|entry| opens && entry.fits(change) && entry.holds(&self.today))
    }

    /// How much a change weighs, and who let it through.
    fn weight(&self, change: &Change) -> (Severity, Option<String>) {
        let note = self
            .entry(change)
            .map(|entry| format!("accepted by {} until {}: {}", entry.author, entry.expires, entry.reason));
        let severity = match (change.verdict.opens(), &note) {
            (true, None) if self.deny_widening => Severity::Error,
            (true, None) => Severity::Warning,
            _ => Severity::Info,
        };
        (severity, note)
    }

    /// For people.
    pub(super) fn page(&self) -> String {
        let mut page = self.drawn.clone();
        for one in &self.compared {
            let shown = [&one.old, &one.new].map(|side| Shown {
                name: &side.name,
                policy: &side.policy,
                sources: &side.sources,
            });
            let drawn = human(&one.diff, shown, self.options, &|change| self.weight(change));
            for part in [drawn, self.summary(one)].into_iter().filter(|part| !part.is_empty()) {
                if !page.is_empty() {
                    page.push('\n');
                }
                page.push_str(&part);
            }
        }
        for (word, names) in [("added", &self.added), ("removed", &self.removed)] {
            for name in names {
                let _ = writeln!(page, "{word}: {}", harmless_line(name));
            }
        }
        page
    }

    fn summary(&self, one: &Comparison) -> String {
        let [old, new] = [&one.old.name, &one.new.name].map(|name| harmless_line(name));
        let mut text = format!("{old} → {new}: {}\n", human::summary(&one.diff));
        let accepted = one.diff.widened().filter(|change| self.entry(change).is_some()).count();
        if accepted > 0 {
            let _ = writeln!(text, "accepted: {accepted} of {}", one.diff.widened().count());
        }
        for side in [&one.old, &one.new].into_iter().filter(|side| !side.dropped.is_empty()) {
            let _ =
                writeln!(text, "not compared: {} speak of no endpoint of this tool", side.dropped.join(", "));
        }
        text
    }

    /// Every edit as a finding, for formats that know nothing else.
    pub(super) fn flat(&self) -> Report {
        let mut report = self.base.clone();
        for one in &self.compared {
            let (accepted, others): (Vec<&Change>, Vec<&Change>) =
                one.diff.changes.iter().partition(|change| self.entry(change).is_some());
            for group in groups(others).iter().chain(&groups(accepted)) {
                report.findings.push(view::finding(one, group, self.weight(group.change)));
            }
        }
        report
    }

    /// One document, indented, with a final newline.
    pub(super) fn document(&self) -> String {
        let comparisons: Vec<Value> =
            (self.compared.iter()).map(|one| view::comparison(one, &|change| self.entry(change))).collect();
        let mut document = json!({
            "schema_version": SCHEMA_VERSION,
            "tool_version": self.base.tool_version,
            "command": "diff",
            "deny_widening": self.deny_widening,
            "exit_code": self.base.exit_code,
            "verdict": self.base.verdict,
            "comparisons": comparisons,
            "added": self.added,
            "removed": self.removed,
            "findings": self.base.findings,
        });
        if let (Some(message), Some(members)) = (&self.base.message, document.as_object_mut()) {
            members.insert("message".to_owned(), message.as_str().into());
        }
        let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
        text.push('\n');
        text
    }
}
