//! Programs: a bare name or an absolute path.

use super::{Kind, list};
use crate::diag::Suggestion;
use crate::endpoint::{Key, KeyKind};
use crate::lower::Context;
use crate::parse::Node;
use crate::source::Spanned;

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Commands,
    takes: "a list of programs",
    doc: "A list of program names and absolute paths, compared with the first word of a command. A bare name means the \
          file that the server's own `PATH` finds for it at start. No arguments, no globs.",
    read: |cx, key, node| list::read(cx, key, KIND.takes, node, element),
    schema,
};

/// The schema of a list of programs.
pub(crate) fn schema(_: Key) -> serde_json::Value {
    list::schema(serde_json::json!({
        "type": "string",
        "anyOf": [{ "pattern": r"^[^/\s*?\u0000]+$" }, { "pattern": r"^/[^*?\u0000]*[^/*?\u0000]$" }],
        "not": { "anyOf": [{ "enum": ["."] }, { "pattern": r"(^|/)\.\.(/|$)" }] }
    }))
}

/// Reads one program.
pub(crate) fn element(cx: &mut Context<'_>, key: Key, node: Node<'_>) -> Option<Spanned<String>> {
    let text = list::text(cx, key, node)?;
    let Some(why) = fault(&text.value) else { return Some(text.spanned()) };
    let report = list::refused(key, &text, "is no program").help(why);
    let first = text.value.split_whitespace().next().unwrap_or_default();
    cx.emit(if text.value.contains(char::is_whitespace) && fault(first).is_none() {
        report.suggest(Suggestion::review(
            format!("write `{first}`"),
            text.span,
            cx.quoted_like(text.span, first),
        ))
    } else {
        report
    });
    None
}

fn fault(program: &str) -> Option<&'static str> {
    if program.is_empty() || program.contains('\0') {
        return Some("write a bare name or an absolute path");
    }
    if program.contains(['*', '?']) {
        return Some("programs are no globs: list each of them");
    }
    match program.strip_prefix('/') {
        Some(rest) if rest.is_empty() || rest.ends_with('/') => {
            Some("this is a directory: name the program in it")
        }
        Some(rest) if rest.split('/').any(|part| part == "..") => Some("write the path without `..`"),
        Some(_) => None,
        None if program.contains('/') => Some("a relative path depends on the caller: write it from `/`"),
        None if matches!(program, "." | "..") => Some("write a bare name or an absolute path"),
        None if program.contains(char::is_whitespace) => {
            Some("the program alone is compared, not its arguments: write its name")
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn programs() {
        for good in ["git", "python3.11", "[", "/usr/bin/env", "/opt/My App/run", "/usr/bin/["] {
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in ["", "git status", "./run", "bin/run", "python*", "/usr/bin/", "/", "/a/../b", "a\0", ".."]
        {
            assert!(fault(bad).is_some(), "{bad}");
        }
    }
}
