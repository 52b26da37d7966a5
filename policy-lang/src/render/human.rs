//! Findings for a terminal: what, where with the text underlined, what to do, and what it would look like done.
//!
//! `codespan-reporting` draws; it is handed an excerpt of the lines that have a label instead of the whole source, so
//! that a document on one line of 10 MB is cut to the window around the mistake and no byte of the input reaches the
//! terminal as a control.

mod excerpt;
mod notes;

use codespan_reporting::diagnostic::{Diagnostic as Drawn, Label as DrawnLabel, Severity as DrawnSeverity};
use codespan_reporting::files::Files;
use codespan_reporting::term::{self, Config, termcolor::Buffer};

use crate::diag::{Diagnostic, Label, Severity, harmless};
use crate::source::SourceMap;
use excerpt::Excerpts;

/// How findings are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderOptions {
    /// Whether to colour with ANSI escapes. The caller knows whether a terminal reads this.
    pub color: bool,
    /// Columns of the terminal; long source lines are cut to it. Never less than 40 are used.
    pub width: usize,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self { color: false, width: 100 }
    }
}

/// Draws findings one after the other, a blank line between them, in the order given.
#[must_use]
pub fn human(sources: &SourceMap, findings: &[Diagnostic], options: RenderOptions) -> String {
    let mut out = String::new();
    for finding in findings {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(draw(sources, finding, options).trim_end());
        out.push('\n');
    }
    out
}

fn draw(sources: &SourceMap, finding: &Diagnostic, options: RenderOptions) -> String {
    let width = options.width.max(40);
    let head = Head {
        severity: severity(finding.severity),
        code: finding.code.as_str(),
        message: &finding.message,
        primary: finding.primary.as_ref(),
        related: &finding.related,
    };
    head.draw(sources, options, |elsewhere| notes::of(sources, finding, elsewhere, width))
        .unwrap_or_else(|| plain(finding))
}

/// A finding that is none of the language's own: what a comparison or a test of policies says.
#[derive(Debug, Clone)]
pub struct Remark<'a> {
    /// How much it weighs.
    pub severity: Severity,
    /// Its code.
    pub code: &'a str,
    /// One sentence.
    pub message: &'a str,
    /// The place that is underlined.
    pub primary: Option<Label>,
    /// Further places.
    pub related: Vec<Label>,
    /// What stands below the lines.
    pub notes: Vec<String>,
}

/// Draws a remark as findings are drawn, ending in a line break.
#[must_use]
pub fn remark(sources: &SourceMap, remark: &Remark<'_>, options: RenderOptions) -> String {
    let head = Head {
        severity: severity(remark.severity),
        code: remark.code,
        message: remark.message,
        primary: remark.primary.as_ref(),
        related: &remark.related,
    };
    let drawn = head.draw(sources, options, |elsewhere| {
        let mut notes: Vec<String> = elsewhere.iter().map(|label| notes::place(sources, label)).collect();
        notes.extend(remark.notes.iter().cloned());
        notes
    });
    let drawn = drawn.unwrap_or_else(|| format!("{}: {}", remark.code, harmless(remark.message)));
    format!("{}\n", drawn.trim_end())
}

/// What is drawn above the notes.
struct Head<'a> {
    severity: DrawnSeverity,
    code: &'a str,
    message: &'a str,
    primary: Option<&'a Label>,
    related: &'a [Label],
}

impl Head<'_> {
    /// `notes` is given the labels whose lines were cut off.
    fn draw(
        &self,
        sources: &SourceMap,
        options: RenderOptions,
        notes: impl FnOnce(&[&Label]) -> Vec<String>,
    ) -> Option<String> {
        let labels: Vec<&Label> = self.primary.into_iter().chain(self.related).collect();
        let excerpts = Excerpts::new(sources, &labels, options.width.max(40));
        let mut drawn = Drawn::new(self.severity).with_code(self.code).with_message(harmless(self.message));
        let mut elsewhere = Vec::new();
        for (at, label) in labels.iter().enumerate() {
            match excerpts.locate(label.span) {
                Some((file, range)) => {
                    let style = if at == 0 && self.primary.is_some() {
                        DrawnLabel::primary(file, range)
                    } else {
                        DrawnLabel::secondary(file, range)
                    };
                    drawn.labels.push(style.with_message(harmless(&label.message)));
                }
                None => elsewhere.push(*label),
            }
        }
        drawn.notes = notes(&elsewhere).iter().map(|note| harmless(note).into_owned()).collect();
        emit(&excerpts, &drawn, options.color)
    }
}

fn emit<'f, F: Files<'f>>(files: &'f F, drawn: &Drawn<F::FileId>, color: bool) -> Option<String> {
    let config = Config::default();
    if !color {
        let drawn = term::emit_into_string(&config, files, drawn).ok()?;
        return Some(drawn.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"));
    }
    let mut buffer = Buffer::ansi();
    let styles = term::Styles::default();
    let mut writer = term::StylesWriter::new(&mut buffer, &styles);
    term::emit_to_write_style(&mut writer, &config, files, drawn).ok()?;
    String::from_utf8(buffer.into_inner()).ok()
}

/// The header alone, should drawing ever fail: a finding is never lost.
fn plain(finding: &Diagnostic) -> String {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    };
    format!("{severity}[{}]: {}", finding.code.as_str(), harmless(&finding.message))
}

const fn severity(severity: Severity) -> DrawnSeverity {
    match severity {
        Severity::Error => DrawnSeverity::Error,
        Severity::Warning => DrawnSeverity::Warning,
        Severity::Info => DrawnSeverity::Note,
    }
}
