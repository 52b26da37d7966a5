//! `true` for every path, or a list of paths and globs.

use super::{Kind, bool, list, paths};
use crate::diag::{Diagnostic, Suggestion};
use crate::endpoint::{Key, KeyKind};
use crate::layer::Value;
use crate::lower::Context;
use crate::parse::{Node, NodeKind};
use crate::source::Span;

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::PathsOrTrue,
    takes: "`true` or a list of paths",
    doc: "`true` for every path, or a list as `paths.deny` takes it. An empty list sets nothing apart.",
    read,
    schema: |key| serde_json::json!({ "anyOf": [{ "const": true }, paths::schema(key)] }),
};

fn read(cx: &mut Context<'_>, key: Key, node: Node<'_>) -> Option<Value> {
    match node.kind {
        NodeKind::Bool(true) => Some(Value::Bool(true)),
        _ => {
            let Some(meant) = bool::meant(&node.kind) else {
                return list::read(cx, key, KIND.takes, node, paths::element);
            };
            let report = cx.wrong_type(&format!("`{}`", key.as_str()), KIND.takes, &node);
            cx.emit(if meant { bool::offer(report, node.span, true) } else { nothing(report, node.span) });
            None
        }
    }
}

/// `false`, in any spelling: what was meant is an empty list.
fn nothing(report: Diagnostic, span: Span) -> Diagnostic {
    let report = report.help("write `[]` where nothing is to be set apart");
    report.suggest(Suggestion::review("write `[]`", span, "[]"))
}
