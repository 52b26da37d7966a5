//! Where a stage puts its findings, and the order in which they come out.

use std::collections::HashSet;

use super::{Code, Diagnostic, Severity};
use crate::source::Span;

/// The most findings of one run that are kept. A document with more is no clearer for the next thousand.
const MAX_FINDINGS: usize = 1_000;

/// Gathers findings. The same finding at the same place counts once, however often a stage comes by.
#[derive(Debug, Default)]
pub struct Sink {
    items: Vec<Diagnostic>,
    seen: HashSet<(Code, Option<Span>, String)>,
}

impl Sink {
    /// An empty sink.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding, unless it is there already or a thousand are.
    pub fn push(&mut self, finding: Diagnostic) {
        if self.items.len() >= MAX_FINDINGS {
            return;
        }
        let place = finding.primary.as_ref().map(|label| label.span);
        if self.seen.insert((finding.code, place, finding.message.clone())) {
            self.items.push(finding);
        }
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether something was found that refuses the document.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.items.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// What was found so far, in the order it came.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.items.iter()
    }

    /// The findings by place: source, first byte, then code. Those without a place come last.
    #[must_use]
    pub fn finish(mut self) -> Vec<Diagnostic> {
        sort(&mut self.items);
        self.items
    }
}

impl Extend<Diagnostic> for Sink {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, findings: I) {
        for finding in findings {
            self.push(finding);
        }
    }
}

/// Sorts findings as [`Sink::finish`] does.
pub(crate) fn sort(findings: &mut [Diagnostic]) {
    findings.sort_by_key(|finding| {
        let place = finding.primary.as_ref().map(|label| label.span);
        (place.is_none(), place.map(|span| (span.source, span.start, span.end)), finding.code)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    fn at(source: u32, start: u32) -> Span {
        Span { source: SourceId(source), start, end: start + 1 }
    }

    #[test]
    fn findings_come_out_by_place_and_once() {
        let mut sink = Sink::new();
        sink.push(Diagnostic::new(Code::TokenEnvUnset, "about the environment"));
        sink.extend([
            Diagnostic::new(Code::UnknownKey, "late").at(at(0, 9)),
            Diagnostic::new(Code::WrongType, "other file").at(at(1, 0)),
            Diagnostic::new(Code::UnknownKey, "early").at(at(0, 2)),
            Diagnostic::new(Code::UnknownKey, "late").at(at(0, 9)),
            Diagnostic::new(Code::DuplicateKey, "same place, other code").at(at(0, 9)),
        ]);
        assert!(sink.has_errors());
        let messages: Vec<_> = sink.finish().into_iter().map(|finding| finding.message).collect();
        assert_eq!(
            messages,
            ["early", "same place, other code", "late", "other file", "about the environment"]
        );
    }

    #[test]
    fn a_flood_is_cut() {
        let mut sink = Sink::new();
        sink.extend((0..5_000).map(|start| Diagnostic::new(Code::DuplicateKey, "again").at(at(0, start))));
        assert_eq!(sink.finish().len(), MAX_FINDINGS);
    }
}
