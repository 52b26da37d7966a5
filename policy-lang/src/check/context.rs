//! What a check is given, and the questions that most of them ask.

use crate::diag::{Applicability, Diagnostic, Edit, Suggestion};
use crate::endpoint::{BaseValue, Catalogue, EndpointId, Key};
use crate::fix::delete;
use crate::layer::{Block, Layer, LayerKind, Selector, Statement, Token};
use crate::merge::Merged;
use crate::parse::{self, Format, Node};
use crate::resolved::{EndpointIx, Resolved, ResolvedStatement, ResolvedValue, Rule, RuleIx, StatementIx};
use crate::source::{SourceMap, Span};
use std::cell::OnceCell;

/// What the caller knows of the process that will serve. What is not known is not checked.
#[derive(Clone, Copy, Default)]
pub struct Facts<'a> {
    /// Whether an environment variable is set to something; absent: nobody asked.
    pub variable_is_set: Option<&'a dyn Fn(&str) -> bool>,
    /// Whether `ABX_SERVER_TOKEN` is set, so that callers are asked for it.
    pub server_token: bool,
}

impl std::fmt::Debug for Facts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let asked = self.variable_is_set.is_some();
        f.debug_struct("Facts")
            .field("variable_is_set", &asked)
            .field("server_token", &self.server_token)
            .finish()
    }
}

/// A merged policy, and what is known about where it will hold.
#[derive(Debug)]
pub struct Context<'a> {
    /// The policy with its written rules.
    pub merged: &'a Merged<'a>,
    /// The layers that it was merged from.
    pub layers: &'a [Layer],
    /// The endpoints.
    pub catalogue: &'a Catalogue,
    /// Where relative paths start.
    pub base_dir: &'a str,
    /// The process.
    pub facts: Facts<'a>,
    /// The texts that the layers were read from.
    pub sources: &'a SourceMap,
    /// The author's text as a tree, read again when the first finding wants to delete something of it.
    pub tree: OnceCell<Option<Node<'a>>>,
}

/// One statement of the author's document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Authored<'a> {
    pub at: StatementIx,
    pub said: &'a ResolvedStatement,
    pub written: &'a Statement,
    pub block: &'a Block,
}

impl Authored<'_> {
    /// Where the value stands.
    pub(super) fn span(&self) -> Option<Span> {
        self.written.value_span.or(self.written.key_span)
    }

    /// The finding at a place of what it says, with the alias through which that came.
    pub(super) fn mark(
        &self,
        finding: Diagnostic,
        span: Option<Span>,
        message: impl Into<String>,
    ) -> Diagnostic {
        place(finding, span, message).via(self.written.via)
    }

    /// Where the key stands.
    pub(super) fn key_span(&self) -> Option<Span> {
        self.written.key_span.or(self.written.value_span)
    }
}

impl<'a> Context<'a> {
    pub(super) fn resolved(&self) -> &'a Resolved {
        &self.merged.resolved
    }

    /// Every statement of the document, in written order.
    pub(super) fn authored(&self) -> impl Iterator<Item = Authored<'a>> + '_ {
        let statements = (0..).map(StatementIx).zip(&self.resolved().statements);
        statements.filter(|(_, said)| self.is_layer(said.rule, LayerKind::Policy)).filter_map(|(at, said)| {
            Some(Authored {
                at,
                said,
                written: self.merged.written(at)?,
                block: self.merged.block(said.rule)?,
            })
        })
    }

    /// The statements of one key in the document.
    pub(super) fn authored_key(&self, key: Key) -> impl Iterator<Item = Authored<'a>> + '_ {
        self.authored().filter(move |authored| authored.said.key == key)
    }

    pub(super) fn is_layer(&self, rule: RuleIx, layer: LayerKind) -> bool {
        self.resolved().rule(rule).is_some_and(|rule| rule.layer == layer)
    }

    pub(super) fn rule(&self, at: StatementIx) -> Option<&'a Rule> {
        self.resolved().rule(self.resolved().statement(at)?.rule)
    }

    /// The rule as a sentence names it.
    pub(super) fn rule_name(&self, at: StatementIx) -> &'a str {
        self.rule(at).map_or("default:base", |rule| &rule.name)
    }

    /// The endpoints that a selector governs.
    pub(super) fn governed(&self, selector: &Selector) -> Vec<EndpointIx> {
        selector.governs(self.catalogue)
    }

    /// Those of them that take the key.
    pub(super) fn takers(&self, selector: &Selector, key: Key) -> Vec<EndpointIx> {
        let mut endpoints = self.governed(selector);
        endpoints.retain(|endpoint| self.catalogue.accepts(*endpoint).contains(key));
        endpoints
    }

    /// What rules say of a key, highest precedence first.
    pub(super) fn candidates(&self, endpoint: EndpointIx, key: Key) -> &'a [StatementIx] {
        self.resolved().candidates(endpoint, key)
    }

    /// Whether the statement says the value that holds there.
    pub(super) fn wins(&self, at: StatementIx, endpoint: EndpointIx, key: Key) -> bool {
        self.candidates(endpoint, key).first() == Some(&at)
    }

    /// Whether the endpoint answers. Where no rule speaks it does: opt-in groups have a rule of the default layer.
    pub(super) fn is_open(&self, endpoint: EndpointIx) -> bool {
        let winner = self.resolved().winner(endpoint, Key::Enabled);
        winner.is_none_or(|said| said.value != ResolvedValue::Bool(false))
    }

    /// The number that holds: that of the winner, else the base value.
    pub(super) fn number(&self, endpoint: EndpointIx, key: Key) -> Option<u64> {
        if let Some(said) = self.resolved().winner(endpoint, key) {
            return match said.value {
                ResolvedValue::Number(value) => Some(value),
                _ => None,
            };
        }
        let base = self.catalogue.decl(endpoint)?.base.iter().find(|(of, _)| *of == key);
        match base?.1 {
            BaseValue::Number(value) => Some(value),
            _ => None,
        }
    }

    /// `auth.tokens` of the document.
    pub(super) fn tokens(&self) -> Option<&'a [Token]> {
        self.layers
            .iter()
            .filter(|layer| layer.kind == LayerKind::Policy)
            .find_map(|layer| layer.tokens.as_deref())
    }

    /// The ids of the declared endpoints among these, for a finding to name.
    pub(super) fn ids(&self, endpoints: &[EndpointIx]) -> Vec<EndpointId> {
        endpoints.iter().filter_map(|ix| self.catalogue.decl(*ix)).map(|decl| decl.id).collect()
    }

    /// The finding's endpoints where the selector is wide; a finding under an exact id names it in its sentence.
    pub(super) fn affecting(
        &self,
        finding: Diagnostic,
        selector: &Selector,
        endpoints: &[EndpointIx],
    ) -> Diagnostic {
        match selector {
            Selector::Exact(_) | Selector::Custom(_) => finding,
            _ => finding.affects(self.ids(endpoints)),
        }
    }

    /// The fix that takes what begins at each of these places out of the document. It is safe where no comment goes with
    /// it; the caller vouches that what goes changes no value.
    pub(super) fn deletion(&self, message: impl Into<String>, at: &[Span]) -> Option<Suggestion> {
        let source = at.first()?.source;
        let root = self.tree.get_or_init(|| parse::policy(self.sources, source, Format::Auto).0);
        let text = self.sources.text(source);
        let mut applicability = Applicability::Safe;
        let mut edits: Vec<Edit> = Vec::with_capacity(at.len());
        for span in at {
            let deletion = delete::at(text, root.as_ref()?, span.start)?;
            // An anchor that goes takes its aliases with it.
            let anchored = self.sources.slice(deletion.span).contains('&');
            if deletion.commented || anchored {
                applicability = Applicability::Review;
            }
            let touches =
                |edit: &Edit| edit.span.start < deletion.span.end && deletion.span.start < edit.span.end;
            if edits.iter().any(touches) {
                return None;
            }
            edits.push(Edit { span: deletion.span, replacement: deletion.replacement });
        }
        Some(Suggestion { message: message.into(), applicability, edits })
    }

    /// `shell`, or `shell, process_start and 6 more`.
    pub(super) fn names(&self, endpoints: &[EndpointIx]) -> String {
        let mut text = String::new();
        for (position, endpoint) in endpoints.iter().take(2).enumerate() {
            text.push_str(if position == 0 { "`" } else { ", `" });
            text.push_str(self.catalogue.name(*endpoint));
            text.push('`');
        }
        if endpoints.len() > 2 {
            text.push_str(&format!(" and {} more", endpoints.len() - 2));
        }
        text
    }
}

/// A finding at a place, if it has one.
pub(super) fn place(finding: Diagnostic, span: Option<Span>, message: impl Into<String>) -> Diagnostic {
    match span {
        Some(span) => finding.at_saying(span, message),
        None => finding,
    }
}

/// A further place of a finding, if it has one.
pub(super) fn beside(finding: Diagnostic, span: Option<Span>, message: impl Into<String>) -> Diagnostic {
    match span {
        Some(span) => finding.related(span, message),
        None => finding,
    }
}
