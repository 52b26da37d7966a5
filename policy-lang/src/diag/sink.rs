//! Where a stage puts its findings, and the order in which they come out.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use super::{Code, Diagnostic, Severity};

/// The most findings of one severity that are kept. A document with more is no clearer for the next thousand; of those it is
/// said how many they are.
const MAX_FINDINGS: usize = 1_000;

/// Gathers findings. The same finding at the same place counts once, however often a stage comes by.
#[derive(Debug, Default)]
pub struct Sink {
    items: Vec<Diagnostic>,
    /// Hashes of code, place and message, so that a flood takes little memory.
    seen: HashSet<u64>,
    hashes: RandomState,
    /// How many are kept of each severity.
    kept: BTreeMap<Severity, usize>,
    /// How many are not.
    more: BTreeMap<(Code, Severity), usize>,
}

impl Sink {
    /// An empty sink.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding, unless it is there already. One of a severity of which a thousand are there is only counted.
    pub fn push(&mut self, finding: Diagnostic) {
        if finding.more > 0 {
            *self.more.entry((finding.code, finding.severity)).or_default() += finding.more;
            return;
        }
        let place = finding.primary.as_ref().map(|label| label.span);
        if !self.seen.insert(self.hashes.hash_one((finding.code, place, &finding.message))) {
            return;
        }
        let kept = self.kept.entry(finding.severity).or_default();
        if *kept < MAX_FINDINGS {
            *kept += 1;
            self.items.push(finding);
        } else {
            *self.more.entry((finding.code, finding.severity)).or_default() += 1;
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

    /// The findings by place: source, first byte, then code. Those without a place come last, and say of each code how many
    /// more there are.
    #[must_use]
    pub fn finish(mut self) -> Vec<Diagnostic> {
        let more = self.more.into_iter();
        self.items.extend(more.map(|((code, severity), count)| Diagnostic::and_more(code, severity, count)));
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
    use crate::source::{SourceId, Span};

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
        let flood =
            |code, count| (0..count).map(move |start| Diagnostic::new(code, "again").at(at(0, start)));
        sink.extend(flood(Code::RuleHasNoEffect, 1_500));
        sink.extend(flood(Code::DuplicateKey, 2_000));
        sink.extend(flood(Code::DuplicateKey, 2_000));
        // What an earlier stage cut is added up.
        sink.push(Diagnostic::and_more(Code::DuplicateKey, Severity::Error, 500));
        assert!(sink.has_errors(), "no flood of warnings hides an error");
        let found = sink.finish();
        assert_eq!(found.len(), 2 * MAX_FINDINGS + 2);
        let said: Vec<_> = found.iter().filter(|finding| finding.more > 0).collect();
        let said: Vec<_> =
            said.iter().map(|finding| (finding.code, finding.severity, finding.more)).collect();
        assert_eq!(
            said,
            [(Code::DuplicateKey, Severity::Error, 1_500), (Code::RuleHasNoEffect, Severity::Warning, 500)]
        );
    }
}
