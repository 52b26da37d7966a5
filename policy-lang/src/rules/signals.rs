//! Signals, by number or name. The layer keeps the number as decimal text.

use super::{Kind, list};
use crate::diag::{Suggestion, suggest};
use crate::endpoint::{Key, KeyKind};
use crate::lower::{Context, Text, alternatives};
use crate::parse::{Node, NodeKind};
use crate::source::Spanned;

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Signals,
    takes: "a list of signal numbers and names",
    doc: "A list of signals, each a number from 1 to 31 or a name with or without `SIG` (`SIGTERM`, `TERM`).",
    read: |cx, key, node| list::read(cx, key, KIND.takes, node, element),
    schema,
};

/// Names of the signals 1 to 31 on Linux, in order, without `SIG`.
const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
    "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

fn schema(_: Key) -> serde_json::Value {
    let names = NAMES.iter().flat_map(|name| [(*name).to_owned(), format!("SIG{name}")]);
    list::schema(serde_json::json!({
        "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": NAMES.len() },
            { "type": "string", "enum": names.collect::<Vec<_>>() }
        ]
    }))
}

/// The number of a signal's name.
#[must_use]
pub(crate) fn number(name: &str) -> Option<usize> {
    let short = name.strip_prefix("SIG").unwrap_or(name);
    NAMES.iter().position(|known| *known == short).map(|position| position + 1)
}

fn element(cx: &mut Context<'_>, key: Key, node: Node<'_>) -> Option<Spanned<String>> {
    let span = node.span;
    let value = match node.kind {
        NodeKind::Int(signal) => match usize::try_from(signal) {
            Ok(signal) if (1..=NAMES.len()).contains(&signal) => signal,
            _ => {
                let text = Text { value: signal.to_string().into(), span };
                let report = list::refused(key, &text, "is no signal");
                cx.emit(report.help(format!("signals are numbered from 1 to {}", NAMES.len())));
                return None;
            }
        },
        NodeKind::Text { text, .. } => match number(&text) {
            Some(signal) => signal,
            None => {
                unknown(cx, key, Text { value: text, span });
                return None;
            }
        },
        _ => {
            let what = format!("an element of `{}`", key.as_str());
            let report = cx.wrong_type(&what, "a signal's number or name", &node);
            cx.emit(report);
            return None;
        }
    };
    Some(Spanned { value: value.to_string(), span })
}

fn unknown(cx: &mut Context<'_>, key: Key, text: Text<'_>) {
    let report = list::refused(key, &text, "is no signal");
    if let Ok(signal) = text.value.parse::<u8>() {
        let report = report.help("write the number unquoted");
        return cx.emit(report.suggest(Suggestion::review(
            "remove the quotes",
            text.span,
            signal.to_string(),
        )));
    }
    let upper = text.value.to_ascii_uppercase();
    let short = upper.strip_prefix("SIG").unwrap_or(&upper);
    let near = suggest::closest(short, NAMES);
    let offers: Vec<String> = near.iter().map(|name| format!("SIG{name}")).collect();
    let report = if offers.is_empty() {
        report.help("write a number, or a name such as `SIGTERM`")
    } else {
        report.help(format!("did you mean {}?", alternatives(offers.iter().map(String::as_str))))
    };
    let report = offers.iter().fold(report, |report, offer| {
        report.suggest(Suggestion::review(
            format!("write `{offer}`"),
            text.span,
            cx.quoted_like(text.span, offer),
        ))
    });
    cx.emit(report);
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn names_have_their_numbers() {
        for (name, wanted) in
            [("SIGHUP", 1), ("INT", 2), ("KILL", 9), ("SIGTERM", 15), ("CONT", 18), ("TSTP", 20)]
        {
            assert_eq!(number(name), Some(wanted), "{name}");
        }
        assert_eq!(number("SIGSYS"), Some(31));
        assert_eq!(number("sigterm"), None);
        assert_eq!(number("SIG"), None);
    }
}
