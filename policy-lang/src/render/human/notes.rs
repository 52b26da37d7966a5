//! What stands below the source lines: help, fixes with the line as it would read, endpoints, places that were cut off.

use crate::diag::{Diagnostic, Edit, Label, Suggestion};
use crate::secret;
use crate::source::SourceMap;

/// Endpoints that are named; more are counted.
const NAMED: usize = 4;

pub(super) fn of(
    sources: &SourceMap,
    finding: &Diagnostic,
    elsewhere: &[&Label],
    width: usize,
) -> Vec<String> {
    let mut notes: Vec<String> = elsewhere.iter().map(|label| place(sources, label)).collect();
    notes.extend(affects(finding));
    let repeated = |help: &String| finding.suggestions.iter().any(|fix| fix.message == *help);
    if let Some(help) = finding.help.as_ref().filter(|help| !repeated(help)) {
        notes.push(format!("help: {help}"));
    }
    for suggestion in &finding.suggestions {
        let after = after(sources, suggestion, width);
        let message = &suggestion.message;
        notes.push(match after {
            Some(line) => format!("fix: {message}\n{line}"),
            None => format!("fix: {message}"),
        });
    }
    notes
}

/// A place whose line is not shown.
pub(super) fn place(sources: &SourceMap, label: &Label) -> String {
    let place = sources.place(label.span);
    let at = format!("{}:{}:{}", sources.name(label.span.source), place.line, place.column);
    if label.message.is_empty() { at } else { format!("{}: {at}", label.message) }
}

/// Which endpoints it concerns, when it stands under a selector of several.
fn affects(finding: &Diagnostic) -> Option<String> {
    let names: Vec<&str> = finding.affects.iter().take(NAMED).map(|endpoint| endpoint.as_str()).collect();
    let count = finding.affects.len();
    match count {
        0 | 1 => None,
        _ if count <= NAMED => Some(format!("affects {count} endpoints: {}", names.join(", "))),
        _ => Some(format!("affects {count} endpoints: {} and {} more", names.join(", "), count - NAMED)),
    }
}

/// The line as it reads with the suggestion applied; `None` where the edits are not all of one line, or it is too long
/// to help.
fn after(sources: &SourceMap, suggestion: &Suggestion, width: usize) -> Option<String> {
    let first = suggestion.edits.first()?.span;
    let (number, _) = sources.line_column(first.source, first.start);
    let line = sources.line_span(first.source, number)?;
    let mut edits: Vec<&Edit> = suggestion.edits.iter().collect();
    edits.sort_by_key(|edit| edit.span.start);
    let text = sources.text(first.source);
    let mut out = String::new();
    let mut at = line.start;
    for edit in edits {
        let span = edit.span;
        if span.source != first.source || span.start < at || span.end > line.end || span.end < span.start {
            return None;
        }
        out.push_str(text.get(at as usize..span.start as usize)?);
        out.push_str(&edit.replacement);
        at = span.end;
    }
    out.push_str(text.get(at as usize..line.end as usize)?);
    let fits = out.chars().count() <= width && !out.chars().any(|c| c.is_control() && c != '\n');
    let mut shown = Vec::new();
    for (number, line) in (number..).zip(out.split('\n')) {
        shown.push(format!("{number} │ {}", secret::masked(line)));
    }
    fits.then(|| shown.join("\n"))
}
