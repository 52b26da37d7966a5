//! `true` for every path, or a list of paths and globs.

use super::{Kind, list, paths};
use crate::diag::Suggestion;
use crate::endpoint::{Key, KeyKind};
use crate::layer::Value;
use crate::lower::Context;
use crate::parse::{Node, NodeKind};

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
        NodeKind::Bool(false) => {
            let report = cx.wrong_type(&format!("`{}`", key.as_str()), KIND.takes, &node);
            let report = report.help("write `[]` where nothing is to be set apart");
            cx.emit(report.suggest(Suggestion::review("write `[]`", node.span, "[]")));
            None
        }
        _ => list::read(cx, key, KIND.takes, node, paths::element),
    }
}
