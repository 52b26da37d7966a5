//! A rule: what a selector says. Its keys stand directly in it or in the sections `paths`, `limits` and `params`.

use crate::diag::{Code, Diagnostic, Suggestion};
use crate::endpoint::{Group, Key};
use crate::layer::{Block, Selector, Statement, Value};
use crate::lower::keys::Foreign;
use crate::lower::words::{self, Level, RuleKey};
use crate::lower::{Context, indent};
use crate::parse::{Entry, Node, NodeKind};
use crate::rules;
use crate::source::Span;

/// Whether `true` and `false` stand for `{enabled: …}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Short {
    /// Under `endpoints` and `groups`.
    Yes,
    /// Under `defaults`.
    No,
}

/// Reads the rule of a selector written at `span`. Under a selector that is itself wrong the rule is read for its own
/// mistakes alone.
pub(crate) fn block(
    cx: &mut Context<'_>,
    selector: Option<Selector>,
    span: Span,
    node: Node<'_>,
    short: Short,
) -> Option<Block> {
    let name = selector.as_ref().map(name);
    let (selector, statements) = cx.under(selector, |cx| match node.kind {
        NodeKind::Bool(enabled) if short == Short::Yes => vec![Statement {
            key: Key::Enabled,
            value: Value::Bool(enabled),
            key_span: Some(span),
            value_span: Some(node.span),
            via: cx.via(),
        }],
        NodeKind::Map(entries) => {
            let mark = Span { end: node.span.start.saturating_add(2).min(node.span.end), ..node.span };
            read(cx, entries, mark)
        }
        NodeKind::Invalid => Vec::new(),
        _ => {
            not_a_rule(cx, span, node, short);
            Vec::new()
        }
    });
    let block = Block { selector: selector?, name: name?, span: Some(span), statements };
    core_stays_on(cx, &block);
    Some(block)
}

/// A block's name, whichever of its spellings the document uses.
fn name(selector: &Selector) -> String {
    let (section, word) = parts(selector);
    format!("{section}{word}")
}

/// Whether a block with this selector has this name.
pub(crate) fn is_name(selector: &Selector, name: &str) -> bool {
    let (section, word) = parts(selector);
    name.strip_prefix(section) == Some(word)
}

fn parts(selector: &Selector) -> (&'static str, &str) {
    match selector {
        Selector::Defaults => ("defaults", ""),
        Selector::Group(group) => ("groups.", group.as_str()),
        Selector::Glob(name) | Selector::Custom(name) => ("endpoints.", name),
        Selector::Exact(id) => ("endpoints.", id.as_str()),
    }
}

fn not_a_rule(cx: &mut Context<'_>, key: Span, node: Node<'_>, short: Short) {
    let takes = if short == Short::Yes { "true, false or a rule" } else { "a rule" };
    let selector = cx.slice(key).trim_matches(['"', '\'']);
    let report = cx.wrong_type(&format!("`{selector}`"), takes, &node);
    let report = match rules::bool::meant(&node.kind) {
        Some(meant) if short == Short::Yes => rules::bool::offer(report, node.span, meant),
        Some(meant) => {
            let rule = format!("{{ enabled: {meant} }}");
            report.help(format!("write `{rule}`")).suggest(Suggestion::review(
                format!("write `{rule}`"),
                node.span,
                rule,
            ))
        }
        None => report,
    };
    cx.emit(report);
}

/// The statements of a rule. `mark` is where to say that it is empty.
fn read(cx: &mut Context<'_>, entries: Vec<Entry<'_>>, mark: Span) -> Vec<Statement> {
    if entries.is_empty() {
        nothing(cx, "this rule", mark);
    }
    let entries = indent::mend(cx, entries, |section, key| words::section_key(section, key).is_some());
    let mut statements = Vec::with_capacity(entries.len());
    let mut foreign = Foreign::of(Level::Rule);
    for entry in entries {
        match words::rule_key(&entry.key) {
            Some(RuleKey::Value(key)) => statement(cx, key, entry, &mut statements),
            Some(RuleKey::Section(name)) => {
                foreign.taken(Some(name));
                cx.value_of(entry.key_span, entry.value.via, |cx| {
                    section(cx, name, entry.value, &mut statements);
                });
            }
            None => foreign.push(entry),
        }
    }
    let misspelt = foreign.report(cx);
    if !misspelt.is_empty() {
        read(cx, misspelt, mark);
    }
    statements
}

fn section(cx: &mut Context<'_>, name: &'static str, node: Node<'_>, statements: &mut Vec<Statement>) {
    if matches!(node.kind, NodeKind::Invalid) {
        return;
    }
    let NodeKind::Map(entries) = node.kind else {
        let report = cx.wrong_type(&format!("`{name}`"), "a mapping", &node);
        return cx.emit(report);
    };
    if entries.is_empty() {
        nothing(cx, &format!("`{name}`"), node.span);
    }
    let mut foreign = Foreign::of(Level::Section(name));
    for entry in entries {
        match words::section_key(name, &entry.key) {
            Some(key) => statement(cx, key, entry, statements),
            None => foreign.push(entry),
        }
    }
    foreign.report(cx);
}

fn statement(cx: &mut Context<'_>, key: Key, entry: Entry<'_>, statements: &mut Vec<Statement>) {
    let (key_span, value_span, via) = (entry.key_span, entry.value.span, entry.value.via);
    cx.value_of(key_span, via, |cx| {
        if let Some(value) = rules::read(cx, key, entry.value) {
            let via = cx.via();
            let (key_span, value_span) = (Some(key_span), Some(value_span));
            statements.push(Statement { key, value, key_span, value_span, via });
        }
    });
}

fn nothing(cx: &mut Context<'_>, what: &str, span: Span) {
    let report = Diagnostic::new(Code::RuleHasNoEffect, format!("{what} says nothing"))
        .at(span)
        .help("remove it, or write the keys that were meant");
    cx.emit(report);
}

/// The core endpoints answer whatever a document says, so closing one by name is a mistake.
fn core_stays_on(cx: &mut Context<'_>, block: &Block) {
    let what = match &block.selector {
        Selector::Group(Group::Core) => "the group `core`".to_owned(),
        Selector::Exact(id) if cx.catalogue.is_core((*id).into()) => format!("`{}`", id.as_str()),
        _ => return,
    };
    for statement in &block.statements {
        let Some(span) = statement.value_span.filter(|_| closes(statement)) else { continue };
        let report = Diagnostic::new(Code::CoreDisabled, format!("{what} can never be closed"))
            .at(span)
            .help("remove the rule: liveness and discovery stay on under every policy");
        cx.inside(statement.via, |cx| cx.emit(report));
    }
}

fn closes(statement: &Statement) -> bool {
    statement.key == Key::Enabled && statement.value == Value::Bool(false)
}
