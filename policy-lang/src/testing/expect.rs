//! The `expect` of a test: a verdict, and as much of the rest of the answer as matters.

use super::read::{mapping, unknown_key, unknown_word};
use crate::diag::{Code, Diagnostic};
use crate::endpoint::Key;
use crate::layer::Value;
use crate::lower::{Context, words};
use crate::parse::{Entry, Node, NodeKind};
use crate::rules;
use crate::source::{Span, Spanned};

const KEYS: [&str; 5] = ["verdict", "code", "status", "rule", "limits"];
const VERDICTS: [&str; 2] = ["allow", "deny"];

/// The code of every refusal that a policy decides.
pub(super) const CODES: [&str; 16] = [
    "endpoint_disabled",
    "missing_scope",
    "request_too_large",
    "path_not_allowed",
    "path_denied",
    "read_only",
    "extension_not_allowed",
    "command_not_allowed",
    "shell_not_allowed",
    "language_not_allowed",
    "signal_not_allowed",
    "url_not_allowed",
    "port_not_allowed",
    "variable_not_allowed",
    "file_too_large",
    "archive_too_large",
];

/// What a test expects. At least one member is there.
#[derive(Debug, Clone, Default)]
pub struct Expect {
    /// Whether the call may happen.
    pub allow: Option<Spanned<bool>>,
    /// The code of the refusal.
    pub code: Option<Spanned<String>>,
    /// The HTTP status.
    pub status: Option<Spanned<u64>>,
    /// The rule that decides: `policy:endpoints.shell`.
    pub rule: Option<Spanned<String>>,
    /// The limits that hold for the endpoint.
    pub limits: Vec<(Key, Spanned<u64>)>,
}

pub(super) fn read(cx: &mut Context<'_>, node: Node<'_>) -> Option<Expect> {
    if let NodeKind::Text { text, .. } = &node.kind {
        return Some(Expect { allow: Some(verdict(cx, text, node.span)?), ..Expect::default() });
    }
    let span = node.span;
    let entries = mapping(cx, "`expect`", node)?;
    let (mut expect, mut sound, empty) = (Expect::default(), true, entries.is_empty());
    for entry in entries {
        sound &= cx.value_of(entry.key_span, entry.value.via, |cx| member(cx, entry, &mut expect)).is_some();
    }
    if empty {
        let message = "this test expects nothing, so no policy could fail it";
        let help = "say at least `verdict: allow` or `verdict: deny`";
        cx.emit(Diagnostic::new(Code::TestAssertsNothing, message).at(span).help(help));
        return None;
    }
    sound.then_some(expect)
}

fn verdict(cx: &mut Context<'_>, word: &str, span: Span) -> Option<Spanned<bool>> {
    let value = match word {
        "allow" => true,
        "deny" => false,
        _ => {
            unknown_word(cx, "verdict", word, span, &VERDICTS);
            return None;
        }
    };
    Some(Spanned { value, span })
}

fn member(cx: &mut Context<'_>, entry: Entry<'_>, expect: &mut Expect) -> Option<()> {
    match &*entry.key {
        "verdict" => {
            let text = cx.text("`verdict`", entry.value)?;
            expect.allow = Some(verdict(cx, &text.value, text.span)?);
        }
        "code" => {
            let text = cx.text("`code`", entry.value)?;
            if !CODES.contains(&&*text.value) {
                unknown_word(cx, "code of a refusal", &text.value, text.span, &CODES);
                return None;
            }
            expect.code = Some(text.spanned());
        }
        "rule" => expect.rule = Some(cx.text("`rule`", entry.value)?.spanned()),
        "status" => {
            let NodeKind::Int(status) = entry.value.kind else {
                let report = cx.wrong_type("`status`", "an HTTP status such as 403", &entry.value);
                cx.emit(report);
                return None;
            };
            expect.status = Some(Spanned { value: u64::try_from(status).ok()?, span: entry.value.span });
        }
        "limits" => limits(cx, entry.value, expect)?,
        _ => {
            unknown_key(cx, &entry, &KEYS, "`expect`");
            return None;
        }
    }
    Some(())
}

fn limits(cx: &mut Context<'_>, node: Node<'_>, expect: &mut Expect) -> Option<()> {
    let names: Vec<&'static str> = words::section_keys("limits").map(|(name, _)| name).collect();
    let mut sound = true;
    for entry in mapping(cx, "`limits`", node)? {
        let Some(key) = words::section_key("limits", &entry.key) else {
            unknown_key(cx, &entry, &names, "`limits`");
            sound = false;
            continue;
        };
        let span = entry.value.span;
        match rules::read(cx, key, entry.value) {
            Some(Value::Number(value)) => expect.limits.push((key, Spanned { value, span })),
            _ => sound = false,
        }
    }
    sound.then_some(())
}
