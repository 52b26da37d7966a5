//! The directives of a document put to the findings of a run.

use super::{directives, scope};
use crate::diag::{Applicability, Code, Diagnostic, Edit, Level, Levels, Severity, Suggestion};
use crate::source::{SourceId, SourceMap, Span};

/// Puts the levels of a document's comments to its findings, and adds what is wrong with the comments themselves. With
/// `complete` every check was made, so a comment that changed nothing is a finding. Codes that a flag speaks of are the
/// flag's.
pub fn apply(
    sources: &SourceMap,
    document: SourceId,
    levels: &Levels,
    complete: bool,
    findings: &mut Vec<Diagnostic>,
) {
    let text = sources.text(document);
    let (directives, mut found) = directives(document, text);
    for directive in directives {
        let range = scope::of(text, directive.span);
        let mut used = false;
        findings.retain_mut(|finding| {
            let there = finding.primary.as_ref().map(|label| label.span);
            let meant = finding.code == directive.code
                && there
                    .is_some_and(|span| span.source == document && range.contains(&(span.start as usize)));
            if !meant {
                return true;
            }
            used = true;
            if levels.speaks_of(finding.code) {
                return true;
            }
            match directive.level {
                Level::Allow => return false,
                Level::Warn => finding.severity = Severity::Warning,
                Level::Deny => finding.severity = Severity::Error,
            }
            true
        });
        if !used && complete {
            found.push(unused(text, &directive));
        }
    }
    if !found.is_empty() {
        findings.append(&mut found);
        crate::diag::sort(findings);
    }
}

fn unused(text: &str, directive: &super::Directive) -> Diagnostic {
    let code = directive.code.as_str();
    Diagnostic::new(
        Code::UnusedLintLevel,
        format!("no finding of `{code}` is here for this comment to change"),
    )
    .at(directive.span)
    .help("remove the comment; it speaks of the entry below it, or behind something of its own line")
    .suggest(Suggestion {
        message: "remove the comment".to_owned(),
        applicability: Applicability::Safe,
        edits: vec![Edit { span: removal(text, directive.span), replacement: String::new() }],
    })
}

/// The whole line of a comment that stands alone; else the comment and the blanks before it.
fn removal(text: &str, comment: Span) -> Span {
    let before = text.get(..comment.start as usize).unwrap_or_default();
    let lead = before.trim_end_matches([' ', '\t']);
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let rest = text.get(comment.end as usize..).unwrap_or_default();
    if lead.is_empty() || lead.ends_with('\n') {
        let line = rest.find('\n').map_or(rest.len(), |at| at + 1);
        return Span { start: offset(lead.len()), end: comment.end + offset(line), ..comment };
    }
    Span { start: offset(lead.len()), ..comment }
}
