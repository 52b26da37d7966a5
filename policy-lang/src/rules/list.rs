//! What every kind that takes a list has in common.

use crate::diag::{Code, Diagnostic, Suggestion, quoted};
use crate::endpoint::Key;
use crate::layer::Value;
use crate::lower::{Context, Holder, Text};
use crate::parse::{Node, NodeKind};
use crate::source::Spanned;

/// Reads one element, or reports why it is none.
pub(crate) type Element = fn(&mut Context<'_>, Key, Node<'_>) -> Option<Spanned<String>>;

/// Reads a list whose elements are read by `element`. Wrong elements are reported and left out.
pub(crate) fn read(
    cx: &mut Context<'_>,
    key: Key,
    takes: &str,
    node: Node<'_>,
    element: Element,
) -> Option<Value> {
    let NodeKind::Seq(items) = node.kind else {
        not_a_list(cx, &format!("`{}`", key.as_str()), takes, &node);
        return None;
    };
    let mut list = Vec::with_capacity(items.len());
    cx.holding(Holder::List, |cx| {
        for item in items.into_iter().filter(|item| !matches!(item.kind, NodeKind::Invalid)) {
            list.extend(match item.via {
                None => element(cx, key, item),
                via => cx.inside(via, |cx| element(cx, key, item)),
            });
        }
    });
    Some(Value::List(list))
}

/// Reports a value where a list is wanted; a single scalar is offered as a list of one.
pub(crate) fn not_a_list(cx: &mut Context<'_>, what: &str, takes: &str, node: &Node<'_>) {
    let report = cx.wrong_type(what, takes, node);
    let written = cx.slice(node.span);
    let plain = !written.contains(['\n', ',', '[', ']', '{', '}', '#']);
    let scalar = match node.kind {
        NodeKind::Text { quoted, .. } => plain || (quoted && !written.contains('\n')),
        NodeKind::Int(_) => true,
        _ => false,
    };
    cx.emit(if scalar {
        let list = format!("[{written}]");
        report.help(format!("write `{list}`")).suggest(Suggestion::review(
            "make it a list of one",
            node.span,
            list,
        ))
    } else {
        report
    });
}

/// An element that is text and nothing else.
pub(crate) fn text<'s>(cx: &mut Context<'_>, key: Key, node: Node<'s>) -> Option<Text<'s>> {
    if let NodeKind::Text { text, .. } = node.kind {
        return Some(Text { value: text, span: node.span });
    }
    cx.text(&format!("an element of `{}`", key.as_str()), node)
}

/// The finding that an element is none of what the key takes.
pub(crate) fn refused(key: Key, text: &Text<'_>, why: impl std::fmt::Display) -> Diagnostic {
    let message = format!("{} in `{}` {why}", quoted(&text.value), key.as_str());
    Diagnostic::new(Code::UnknownValue, message).at(text.span)
}

/// The schema of a list whose elements have the schema `items`.
pub(crate) fn schema(items: serde_json::Value) -> serde_json::Value {
    serde_json::json!({ "type": "array", "items": items })
}
