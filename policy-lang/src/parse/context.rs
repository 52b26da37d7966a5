//! What both readers share: the text, the findings so far, and what is left of the budget.

use std::ops::Range;

use super::limits::{self, MAX_NODES};
use super::{Node, NodeKind};
use crate::diag::{Diagnostic, Sink};
use crate::source::{SourceId, Span};

#[derive(Debug)]
pub(super) struct Context<'s> {
    source: SourceId,
    pub(super) text: &'s str,
    /// Whether the text is known to be a policy or a template that holds one.
    pub(super) policy: bool,
    /// Whether what is being read belongs to a template, which may say what it likes.
    pub(super) foreign: bool,
    sink: Sink,
    nodes: usize,
    exhausted: bool,
}

impl<'s> Context<'s> {
    pub(super) fn new(source: SourceId, text: &'s str, policy: bool) -> Self {
        Self { source, text, policy, foreign: false, sink: Sink::new(), nodes: 0, exhausted: false }
    }

    /// Source texts are bounded far below `u32::MAX`.
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { source: self.source, start: offset(range.start), end: offset(range.end) }
    }

    /// The start of a span that may be long.
    pub(super) fn first_character(&self, span: Span) -> Span {
        let start = span.start as usize;
        let width = self.text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        self.span(start..start + width)
    }

    pub(super) fn report(&mut self, finding: Diagnostic) {
        self.sink.push(finding);
    }

    /// Reports what is wrong with a value, unless it is none of ours.
    pub(super) fn judge(&mut self, finding: Diagnostic) {
        if !self.foreign {
            self.report(finding);
        }
    }

    /// Forgets what was read, for another reading.
    pub(super) fn restart(&mut self) {
        *self = Self::new(self.source, self.text, self.policy);
    }

    /// Whether nothing was found so far.
    pub(super) fn is_clean(&self) -> bool {
        self.sink.is_empty()
    }

    pub(super) fn finish(self) -> Vec<Diagnostic> {
        self.sink.finish()
    }

    /// Makes a node, and counts it. Past the budget the finding is made once and the document is given up.
    pub(super) fn node(&mut self, kind: NodeKind<'s>, span: Span, via: Option<Span>) -> Node<'s> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            self.give_up(limits::too_many_nodes().at(span).via(via));
        }
        Node { kind, span, via }
    }

    /// A value that has been reported.
    pub(super) fn invalid(&mut self, span: Span, via: Option<Span>) -> Node<'s> {
        self.node(NodeKind::Invalid, span, via)
    }

    /// Reports why nothing more of the document is read. Readers ask [`Self::exhausted`] before each value.
    pub(super) fn give_up(&mut self, finding: Diagnostic) {
        if !self.exhausted {
            self.exhausted = true;
            self.report(finding);
        }
    }

    pub(super) const fn exhausted(&self) -> bool {
        self.exhausted
    }
}
