//! A number of things, at least one.

use super::Kind;
use crate::diag::{Code, Diagnostic, Suggestion};
use crate::endpoint::{Key, KeyKind};
use crate::layer::Value;
use crate::lower::Context;
use crate::parse::{Node, NodeKind};

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Count,
    takes: "a whole number from 1 up",
    doc: "A whole number from 1 up, unquoted.",
    read,
    schema: |_| serde_json::json!({ "type": "integer", "minimum": 1 }),
};

fn read(cx: &mut Context<'_>, key: Key, node: Node<'_>) -> Option<Value> {
    let name = key.as_str();
    let report = match &node.kind {
        NodeKind::Int(count) => match u64::try_from(*count) {
            Ok(count) if count > 0 => return Some(Value::Number(count)),
            _ => Diagnostic::new(Code::WrongType, format!("`{name}` must be at least 1, not {count}"))
                .at(node.span)
                .help(super::quantity::CLOSE_INSTEAD),
        },
        NodeKind::Text { text, quoted: true } if is_count(text) => {
            let report = cx.wrong_type(&format!("`{name}`"), KIND.takes, &node);
            report.help(format!("write `{text}`, unquoted")).suggest(Suggestion::review(
                "remove the quotes",
                node.span,
                text.as_ref(),
            ))
        }
        _ => cx.wrong_type(&format!("`{name}`"), KIND.takes, &node),
    };
    cx.emit(report);
    None
}

fn is_count(text: &str) -> bool {
    !text.starts_with('0') && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
