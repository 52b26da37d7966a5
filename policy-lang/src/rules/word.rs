//! What the kinds that take one word of a closed set have in common.

use crate::diag::{Code, Diagnostic, Suggestion, quoted, suggest};
use crate::endpoint::Key;
use crate::layer::Value;
use crate::lower::{Context, Text, alternatives};
use crate::parse::{Node, NodeKind};

/// For schemas: a letter, a digit, `_` or `-`. Of what lies beyond ASCII the compiler takes letters and digits alone; not every
/// validator knows those classes.
pub(crate) const WORD: &str = r"[^\u0000-,./:-@\[-\^`{-\u007F]";

/// Reads one of `words`.
pub(crate) fn read(cx: &mut Context<'_>, key: Key, words: &[&'static str], node: Node<'_>) -> Option<Value> {
    let takes = alternatives(words.iter().copied());
    if let NodeKind::Text { text, .. } = node.kind {
        let text = Text { value: text, span: node.span };
        return one_of(cx, key, words, text).map(Value::Word);
    }
    let report = cx.wrong_type(&format!("`{}`", key.as_str()), &takes, &node);
    cx.emit(report);
    None
}

/// Takes the text if it is one of `words`; else reports it with the nearest.
pub(crate) fn one_of(
    cx: &mut Context<'_>,
    key: Key,
    words: &[&'static str],
    text: Text<'_>,
) -> Option<String> {
    if words.contains(&&*text.value) {
        return Some(text.value.into_owned());
    }
    let message = format!("{} is no value of `{}`", quoted(&text.value), key.as_str());
    let report = Diagnostic::new(Code::UnknownValue, message).at(text.span);
    let near = suggest::closest(&text.value, words.iter().copied());
    let report =
        nearest(cx, report, &text, &near, || format!("it takes {}", alternatives(words.iter().copied())));
    cx.emit(report);
    None
}

/// Offers what is near to a word that is none, or says what there is.
pub(crate) fn nearest(
    cx: &Context<'_>,
    report: Diagnostic,
    text: &Text<'_>,
    near: &[&str],
    otherwise: impl FnOnce() -> String,
) -> Diagnostic {
    if near.is_empty() {
        return report.help(otherwise());
    }
    let report = report.help(format!("did you mean {}?", alternatives(near.iter().copied())));
    near.iter().fold(report, |report, near| {
        let written = cx.quoted_like(text.span, near);
        report.suggest(Suggestion::review(format!("write `{near}`"), text.span, written))
    })
}

/// The schema of one of `words`.
pub(crate) fn schema(words: &[&'static str]) -> serde_json::Value {
    serde_json::json!({ "type": "string", "enum": words })
}
