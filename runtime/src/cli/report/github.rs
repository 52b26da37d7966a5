//! Findings as workflow commands: annotations that a forge shows beside the line of a pull request.

use super::{Finding, Report};
use policy_lang::diag::harmless;
use std::fmt::Write;

/// One `::error …` line a finding, one a check that was not made, then nothing: the summary is for people and goes elsewhere.
pub(in crate::cli) fn render(report: &Report) -> String {
    let mut out = String::new();
    for finding in &report.findings {
        line(&mut out, finding);
    }
    if let Some(message) = &report.message {
        let _ = writeln!(out, "::error title={}::{}", report.verdict, data(message));
    }
    for skipped in &report.skipped_checks {
        let _ = writeln!(
            out,
            "::notice title=not checked::{}",
            data(&format!("{}: {}", skipped.check, skipped.why))
        );
    }
    out
}

fn line(out: &mut String, finding: &Finding) {
    let command = match finding.level {
        "error" => "error",
        "warning" => "warning",
        _ => "notice",
    };
    let _ = write!(out, "::{command} ");
    if let Some(place) = &finding.primary {
        let _ = write!(out, "file={},line={},endLine={},", property(&place.file), place.line, place.end_line);
        // A column range is only understood within one line.
        if place.line == place.end_line {
            let _ = write!(out, "col={},endColumn={},", place.column, place.end_column);
        }
    }
    let text = match &finding.help {
        Some(help) => format!("{}\n{help}", finding.message),
        None => finding.message.clone(),
    };
    let _ = writeln!(out, "title={}::{}", property(finding.code), data(&text));
}

/// Escapes a message.
fn data(text: &str) -> String {
    harmless(text).replace('%', "%25").replace('\n', "%0A")
}

/// Escapes the value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_would_end_a_property() {
        assert_eq!(property("a:b,c%d\n"), "a%3Ab%2Cc%25d%0A");
        assert_eq!(data("a:b,c%d\n"), "a:b,c%25d%0A");
        assert_eq!(data("a\r::b\u{1b}7"), "a\\r::b\\u{1b}7");
    }
}
