//! What was found about a policy, for the log and for `GET /capabilities`.

use policy_lang::diag::{Diagnostic, Severity};
use policy_lang::render::{RenderOptions, human};
use policy_lang::source::SourceMap;
use policy_lang::stages::Outcome;
use std::io::IsTerminal;

/// One sentence for each warning, and everything as people read it.
pub(super) fn of(outcome: &Outcome) -> (Vec<String>, String) {
    let found: Vec<_> =
        outcome.diagnostics.iter().filter(|found| found.severity >= Severity::Warning).cloned().collect();
    let warnings = found.iter().filter(|found| found.severity == Severity::Warning);
    let sentences = warnings.map(|warning| sentence(&outcome.sources, warning)).collect();
    if found.is_empty() {
        return (sentences, String::new());
    }
    let options = RenderOptions { color: std::io::stderr().is_terminal(), ..RenderOptions::default() };
    (sentences, human(&outcome.sources, &found, options))
}

/// Whether the text that was named as the policy is none: blank, or a template without a `server` block. Taking it for
/// the empty policy would open what the policy that should stand there closes.
pub(super) fn is_no_policy(outcome: &Outcome) -> bool {
    let blank = outcome.document.is_some_and(|document| outcome.sources.text(document).trim().is_empty());
    blank || outcome.layer.is_absent
}

/// `template.yaml:14:7: message [code]`
fn sentence(sources: &SourceMap, found: &Diagnostic) -> String {
    let text = format!("{} [{}]", found.message, found.code.as_str());
    match &found.primary {
        None => text,
        Some(label) => {
            let place = sources.place(label.span);
            format!("{}:{}:{}: {text}", sources.name(place.source), place.line, place.column)
        }
    }
}
