//! What every reader of a document is handed: the world it is read against, where reading stands, and the findings.

use crate::diag::{Code, Diagnostic, Label, Severity, Suggestion};
use crate::endpoint::{Catalogue, EndpointId, Key, KeySet};
use crate::layer::Selector;
use crate::lower::Text;
use crate::parse::{Node, NodeKind};
use crate::source::{SourceId, SourceMap, Span};
use std::collections::BTreeMap;

/// The state of one run over one document.
pub(crate) struct Context<'a> {
    pub(crate) catalogue: &'a Catalogue,
    map: &'a SourceMap,
    source: SourceId,
    /// The selector whose rule is being read; none outside of rules and under a selector that is itself wrong.
    selector: Option<Selector>,
    /// The alias or merge key through which the value being read was reached.
    via: Option<Span>,
    /// The key whose value is being read, to be underlined where nothing is written.
    key: Option<Span>,
    /// What is being read, for the advice where nothing is written.
    kind: Holder,
    found: Vec<Diagnostic>,
    more: BTreeMap<(Code, Severity), usize>,
}

/// What a value is to what holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The value of a key that may be left out.
    Optional,
    /// The value of a key that must be there.
    Required,
    /// An element of a list.
    List,
}

/// The most findings that are kept of one reading, before those of one mistake are put together.
const MAX_FINDINGS: usize = 5_000;

/// From how many on no suggestion is looked for: so many findings are not shown.
const FLOOD: usize = 2_000;

impl<'a> Context<'a> {
    pub(crate) fn new(map: &'a SourceMap, source: SourceId, catalogue: &'a Catalogue) -> Self {
        let (found, more) = (Vec::new(), BTreeMap::new());
        Self {
            catalogue,
            map,
            source,
            selector: None,
            via: None,
            key: None,
            kind: Holder::Optional,
            found,
            more,
        }
    }

    /// The document as written; empty for a span that is not of it.
    pub(crate) fn slice(&self, span: Span) -> &'a str {
        self.map.text(span.source).get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Whether the file is written in flow style from its first character, as JSON is.
    pub(crate) fn is_flow_document(&self) -> bool {
        let text = self.map.text(self.source);
        text.trim_start_matches('\u{feff}').trim_start().starts_with('{')
    }

    /// `word` in the quotes that the text at `span` has, so that it can stand in its place.
    pub(crate) fn quoted_like(&self, span: Span, word: &str) -> String {
        match self.slice(span).chars().next() {
            Some(quote @ ('"' | '\'')) => format!("{quote}{word}{quote}"),
            _ => word.to_owned(),
        }
    }

    /// Reads `node`'s inside: findings made there name the alias that leads to it.
    pub(crate) fn inside<T>(&mut self, via: Option<Span>, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.via;
        self.via = via.or(outer);
        let result = read(self);
        self.via = outer;
        result
    }

    /// Reads the value of the key at `key`.
    pub(crate) fn value_of<T>(
        &mut self,
        key: Span,
        via: Option<Span>,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.key = Some(key);
        let outer = std::mem::replace(&mut self.kind, Holder::Optional);
        let result = self.inside(via, read);
        self.kind = outer;
        self.key = None;
        result
    }

    /// Reads what cannot simply be left out.
    pub(crate) fn holding<T>(&mut self, kind: Holder, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.kind, kind);
        let result = read(self);
        self.kind = outer;
        result
    }

    /// Reads a rule of `selector`; the selector is handed back.
    pub(crate) fn under<T>(
        &mut self,
        selector: Option<Selector>,
        read: impl FnOnce(&mut Self) -> T,
    ) -> (Option<Selector>, T) {
        let outer = std::mem::replace(&mut self.selector, selector);
        let result = read(self);
        (std::mem::replace(&mut self.selector, outer), result)
    }

    /// The alias or merge key that leads to what is being read.
    pub(crate) fn via(&self) -> Option<Span> {
        self.via
    }

    /// Whether some endpoint of the selector being read takes `key`; outside of a known selector, whether any does.
    pub(crate) fn takes(&self, key: Key) -> bool {
        let takes = |keys: KeySet| keys.contains(key);
        match &self.selector {
            None => true,
            Some(selector) => {
                self.catalogue.matching(selector).into_iter().any(|ix| takes(self.catalogue.accepts(ix)))
            }
        }
    }

    /// Endpoints of a selector that speaks of more than one by its form.
    fn affected(&self) -> Vec<EndpointId> {
        match &self.selector {
            None | Some(Selector::Exact(_) | Selector::Custom(_)) => Vec::new(),
            Some(wide) => {
                let endpoints = self.catalogue.matching(wide).into_iter();
                endpoints.filter_map(|ix| self.catalogue.decl(ix)).map(|decl| decl.id).collect()
            }
        }
    }

    /// Whether so much was found that what more there is will only be counted.
    pub(crate) fn is_flooded(&self) -> bool {
        self.found.len() >= FLOOD
    }

    /// Keeps a finding, or counts it.
    pub(crate) fn emit(&mut self, mut finding: Diagnostic) {
        if self.found.len() >= MAX_FINDINGS {
            *self.more.entry((finding.code, finding.severity)).or_default() += 1;
            return;
        }
        finding.affects = self.affected();
        if let Some(span) = self.via {
            finding.related.push(Label { span, message: "used here".to_owned() });
        }
        self.found.push(finding);
    }

    /// Takes the node for text, or says that `what` wants text.
    pub(crate) fn text<'s>(&mut self, what: &str, node: Node<'s>) -> Option<Text<'s>> {
        match node.kind {
            NodeKind::Text { text, .. } => return Some(Text { value: text, span: node.span }),
            NodeKind::Invalid => return None,
            _ => {}
        }
        let report = self.wrong_type(what, "text", &node);
        let written = self.slice(node.span);
        let plain = matches!(node.kind, NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_));
        self.emit(if plain {
            report.help("quote it").suggest(Suggestion::review(
                "quote it",
                node.span,
                format!("\"{written}\""),
            ))
        } else {
            report
        });
        None
    }

    /// The finding that `what` takes `takes` and not what stands there.
    pub(crate) fn wrong_type(&self, what: &str, takes: &str, node: &Node<'_>) -> Diagnostic {
        if let NodeKind::Null { written } = node.kind {
            let message = format!("{what} has no value");
            let label = if written { "null says nothing" } else { "nothing is written after it" };
            let place = self.key.filter(|_| !written).unwrap_or(node.span);
            let report = Diagnostic::new(Code::WrongType, message).at_saying(place, label);
            return report.help(match self.kind {
                Holder::Optional => format!("give it {takes}, or leave the key out"),
                Holder::Required => format!("give it {takes}"),
                Holder::List => format!("write {takes}, or remove the element"),
            });
        }
        let message = format!("{what} takes {takes}, not {}", describe(&node.kind));
        let report = Diagnostic::new(Code::WrongType, message).at(self.mark(node));
        let holds_keys = takes.contains("mapping") || takes.contains("rule");
        let spaced = match &node.kind {
            NodeKind::Text { text, quoted: false } if holds_keys => missing_space(text),
            _ => None,
        };
        match spaced {
            Some(spaced) => report.help(format!("put a space after the colon: `{spaced}`")),
            None => report,
        }
    }

    /// The part of a node to underline: a collection in brackets from its bracket on, another at its first entry, and never
    /// as a block.
    fn mark(&self, node: &Node<'_>) -> Span {
        let written = self.slice(node.span);
        if written.starts_with(['{', '[']) {
            let end = if written.contains(['\n', '\r']) { node.span.start + 1 } else { node.span.end };
            return Span { end, ..node.span };
        }
        match &node.kind {
            NodeKind::Map(entries) => entries.first().map_or(node.span, |entry| entry.key_span),
            NodeKind::Seq(items) => items.first().map_or(node.span, |item| self.mark(item)),
            _ => node.span,
        }
    }

    /// The findings, sorted by place. One mistake reached through several aliases is one finding.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let mut found = self.found;
        found.sort_by_key(|finding| (finding.primary.as_ref().map(|label| label.span), finding.code));
        let mut merged: Vec<Diagnostic> = Vec::with_capacity(found.len());
        for finding in found {
            match merged.last_mut() {
                Some(last) if same_mistake(last, &finding) => absorb(last, finding),
                _ => merged.push(finding),
            }
        }
        let more = self.more.into_iter();
        merged.extend(more.map(|((code, severity), count)| Diagnostic::and_more(code, severity, count)));
        merged
    }
}

/// What stands there, with its article.
fn describe(kind: &NodeKind<'_>) -> &'static str {
    match kind {
        NodeKind::Null { .. } => "null",
        NodeKind::Bool(_) => "a boolean",
        NodeKind::Int(_) => "a number",
        NodeKind::Float(_) => "a decimal number",
        NodeKind::Text { quoted: true, .. } => "quoted text",
        NodeKind::Text { .. } => "text",
        NodeKind::Seq(_) => "a list",
        NodeKind::Map(_) => "a mapping",
        NodeKind::Invalid => "an invalid value",
    }
}

/// `shell: true` of `shell:true`.
fn missing_space(text: &str) -> Option<String> {
    let (key, value) = text.split_once(':')?;
    let word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    (word(key) && word(value) && !value.starts_with(['/', ':'])).then(|| format!("{key}: {value}"))
}

fn same_mistake(one: &Diagnostic, other: &Diagnostic) -> bool {
    let place = |finding: &Diagnostic| finding.primary.as_ref().map(|label| label.span);
    one.code == other.code && place(one) == place(other) && one.message == other.message
}

fn absorb(first: &mut Diagnostic, again: Diagnostic) {
    for label in again.related {
        if !first.related.contains(&label) {
            first.related.push(label);
        }
    }
    first.affects.extend(again.affects);
    first.affects.sort_unstable();
    first.affects.dedup();
}
