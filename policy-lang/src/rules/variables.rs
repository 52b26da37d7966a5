//! Names of environment variables, and globs over them.

use super::{Kind, glob, list};
use crate::endpoint::{Key, KeyKind};
use crate::lower::Context;
use crate::parse::Node;
use crate::source::Spanned;

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Variables,
    takes: "a list of variable names",
    doc: "A list of variable names and globs over them (`AWS_*`), compared with regard to case.",
    read: |cx, key, node| list::read(cx, key, KIND.takes, node, element),
    schema: |_| list::schema(serde_json::json!({ "type": "string", "pattern": r"^[^=\s\u0000]+$" })),
};

fn element(cx: &mut Context<'_>, key: Key, node: Node<'_>) -> Option<Spanned<String>> {
    let text = list::text(cx, key, node)?;
    let report = if text.value.is_empty()
        || text.value.contains(|c: char| matches!(c, '=' | '\0') || c.is_whitespace())
    {
        let report = list::refused(key, &text, "is no variable name");
        match text.value.split_once('=') {
            Some((name, _)) if !name.is_empty() => report.help("write the name alone, without a value"),
            _ => report.help("a name holds no space, `=` or NUL character"),
        }
    } else if glob::is_glob(&text.value)
        && let Err(fault) = glob::check(&text.value)
    {
        glob::report(cx, &text.value, text.span, &fault)
    } else {
        return Some(text.spanned());
    };
    cx.emit(report);
    None
}
