//! TCP ports and ranges of them. The layer keeps them as decimal text: `8080`, `8000-8999`.

use super::{Kind, list};
use crate::diag::Suggestion;
use crate::endpoint::{Key, KeyKind};
use crate::lower::{Context, Text};
use crate::parse::{Node, NodeKind};
use crate::source::Spanned;

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Ports,
    takes: "a list of ports",
    doc: "A list of ports from 1 to 65535, unquoted, and ranges such as `8000-8999`, both ends included.",
    read: |cx, key, node| list::read(cx, key, KIND.takes, node, element),
    schema,
};

fn schema(_: Key) -> serde_json::Value {
    let range = "^[1-9][0-9]{0,4}-[1-9][0-9]{0,4}$";
    list::schema(serde_json::json!({
        "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": 65535 },
            { "type": "string", "pattern": range }
        ]
    }))
}

/// The first and last port of an element as the layer keeps it.
#[must_use]
pub(crate) fn range(text: &str) -> Option<(u16, u16)> {
    let port = |text: &str| {
        let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        if plain { text.parse::<u16>().ok() } else { None }
    };
    match text.split_once('-') {
        None => port(text).map(|port| (port, port)),
        Some((first, last)) => Some((port(first)?, port(last)?)).filter(|(first, last)| first <= last),
    }
}

fn element(cx: &mut Context<'_>, key: Key, node: Node<'_>) -> Option<Spanned<String>> {
    let span = node.span;
    match node.kind {
        NodeKind::Int(port) => {
            if let Ok(port) = u16::try_from(port)
                && port > 0
            {
                return Some(Spanned { value: port.to_string(), span });
            }
            let text = Text { value: port.to_string().into(), span };
            cx.emit(list::refused(key, &text, "is no port").help("ports are numbered from 1 to 65535"));
        }
        NodeKind::Text { text, .. } => {
            let single = !text.contains('-');
            let valid = range(&text).is_some();
            let text = Text { value: text, span };
            if valid && !single {
                return Some(text.spanned());
            }
            let report = list::refused(key, &text, "is no port");
            cx.emit(if valid {
                report.help("write the number unquoted").suggest(Suggestion::review(
                    "remove the quotes",
                    span,
                    &*text.value,
                ))
            } else {
                report.help("write a number from 1 to 65535, or a range such as `8000-8999`")
            });
        }
        _ => {
            let what = format!("an element of `{}`", key.as_str());
            let report = cx.wrong_type(&what, "a port or a range of ports", &node);
            cx.emit(report);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn ranges() {
        for (text, wanted) in [
            ("8080", Some((8080, 8080))),
            ("8000-8999", Some((8000, 8999))),
            ("1-65535", Some((1, 65535))),
            ("5-5", Some((5, 5))),
            ("9-8", None),
            ("0-5", None),
            ("1-65536", None),
            ("-5", None),
            ("5-", None),
            ("1-2-3", None),
            ("08", None),
        ] {
            assert_eq!(range(text), wanted, "{text}");
        }
    }
}
