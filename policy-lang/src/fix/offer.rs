//! A fix with the finding that offers it.

use crate::diag::{Applicability, Code, Diagnostic, Edit, Severity, Suggestion};
use crate::source::Span;

#[derive(Debug, Clone)]
pub(super) struct Offer {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) edits: Vec<Edit>,
}

impl Offer {
    fn of(finding: &Diagnostic, suggestion: &Suggestion) -> Self {
        let edits = suggestion.edits.clone();
        Self { code: finding.code, message: suggestion.message.clone(), edits }
    }

    /// The first byte that it changes.
    pub(super) fn start(&self) -> u32 {
        self.edits.iter().map(|edit| edit.span.start).min().unwrap_or(0)
    }

    /// Where a byte that its finding's text had at `at` stands afterwards, when other offers have moved it to `moved`.
    pub(super) fn moves(&self, at: u32, moved: u32) -> u32 {
        self.edits.iter().filter(|edit| edit.span.end <= at).fold(moved, |moved, edit| {
            let longer = u32::try_from(edit.replacement.len()).unwrap_or(0);
            moved.saturating_add(longer).saturating_sub(edit.span.end - edit.span.start)
        })
    }
}

/// The first suggestion of a finding, if it is safe.
pub(super) fn safe(finding: &Diagnostic) -> Option<Offer> {
    let first = finding.suggestions.first().filter(|first| first.applicability == Applicability::Safe)?;
    Some(Offer::of(finding, first))
}

/// The suggestion of an error that has only one.
pub(super) fn only(finding: &Diagnostic) -> Option<Offer> {
    let [only] = finding.suggestions.as_slice() else { return None };
    (finding.severity == Severity::Error).then(|| Offer::of(finding, only))
}

/// The offers that touch none of those before them.
pub(super) fn apart(offers: &[Offer]) -> Vec<Offer> {
    let mut taken: Vec<Span> = Vec::new();
    let mut apart = Vec::new();
    for offer in offers {
        let touches =
            |edit: &Edit| taken.iter().any(|span| edit.span.start <= span.end && span.start <= edit.span.end);
        if !offer.edits.iter().any(touches) {
            taken.extend(offer.edits.iter().map(|edit| edit.span));
            apart.push(offer.clone());
        }
    }
    apart
}
