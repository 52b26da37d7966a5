//! Aliases: what they stand for, and those that stand for nothing.

use std::borrow::Cow;

use super::super::{Node, NodeKind};
use super::items::Item;
use super::mend::must_be_quoted;
use super::tree::{Builder, Site};
use crate::diag::{Code, Diagnostic, quoted, suggest};
use crate::source::Span;

impl<'s> Builder<'s, '_> {
    /// The value that an alias stands for.
    pub(super) fn alias(&mut self, at: usize, target: usize, span: Span, site: Site) -> Option<Node<'s>> {
        // INVARIANT: building goes back only to what ended before the alias, so it ends.
        if self.items.after(target) > at {
            self.report_cycle(span);
            return Some(self.context.invalid(span, site.via));
        }
        let via = site.via.or(Some(span));
        let outer = std::mem::replace(&mut self.via, via);
        let value = self.value(target, Site { via, ..site });
        self.via = outer;
        value
    }

    pub(super) fn report_cycle(&mut self, span: Span) {
        let written = self.slice(&span.range());
        let message = format!("alias {} stands inside the value that it names", quoted(written));
        let finding = Diagnostic::new(Code::Syntax, message).at(span);
        self.context.report(finding.help("a value cannot contain itself"));
    }

    /// An alias without an anchor: a misspelt name, or a glob that wants quotes.
    pub(super) fn unknown_alias(&mut self, item: &Item<'_>) -> NodeKind<'s> {
        let written = self.slice(&item.range);
        let name = written.strip_prefix('*').unwrap_or(written);
        let word = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        if !word {
            let finding = must_be_quoted(self.context, written, item.range.clone());
            self.context.report(finding);
            return NodeKind::Text { text: Cow::Borrowed(written), quoted: true };
        }
        let span = self.context.span(item.range.clone());
        let near = suggest::closest(name, self.items.anchors.iter().map(String::as_str));
        let help = match near.first() {
            Some(near) => format!("did you mean `*{near}`?"),
            None => format!("anchors are made with `&{name}`; quote it if it is a glob: `\"{written}\"`"),
        };
        let message = format!("no anchor named {} comes before this alias", quoted(name));
        self.context.report(Diagnostic::new(Code::Syntax, message).at(span).help(help));
        NodeKind::Invalid
    }
}
