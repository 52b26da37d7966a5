//! `true` or `false`, and nothing that merely reads like it.

use super::Kind;
use crate::diag::{Diagnostic, Suggestion};
use crate::endpoint::{Key, KeyKind};
use crate::layer::Value;
use crate::lower::Context;
use crate::parse::{Node, NodeKind};
use crate::source::Span;

/// The kind.
pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Bool,
    takes: "true or false",
    doc: "`true` or `false`, unquoted. `yes`, `no`, `on` and `off` are text in YAML 1.2 and refused.",
    read,
    schema: |_| serde_json::json!({ "type": "boolean" }),
};

fn read(cx: &mut Context<'_>, key: Key, node: Node<'_>) -> Option<Value> {
    if let NodeKind::Bool(value) = node.kind {
        return Some(Value::Bool(value));
    }
    let report = cx.wrong_type(&format!("`{}`", key.as_str()), KIND.takes, &node);
    cx.emit(match meant(&node.kind) {
        Some(meant) => offer(report, node.span, meant),
        None => report,
    });
    None
}

/// The boolean that a text or a number most likely stands for.
pub(crate) fn meant(kind: &NodeKind<'_>) -> Option<bool> {
    match kind {
        NodeKind::Bool(value) => Some(*value),
        NodeKind::Int(0) => Some(false),
        NodeKind::Int(1) => Some(true),
        NodeKind::Text { text, .. } => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "y" | "enabled" => Some(true),
            "false" | "no" | "off" | "n" | "disabled" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Offers the boolean in place of what stands at `span`.
pub(crate) fn offer(report: Diagnostic, span: Span, meant: bool) -> Diagnostic {
    let word = if meant { "true" } else { "false" };
    report.help(format!("write `{word}`, unquoted")).suggest(Suggestion::review(
        format!("write `{word}`"),
        span,
        word,
    ))
}
