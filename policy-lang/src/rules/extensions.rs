//! Extensions of file names.

use super::{Kind, list};
use crate::diag::Suggestion;
use crate::endpoint::{Key, KeyKind};
use crate::lower::Context;
use crate::parse::Node;
use crate::source::Spanned;

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Extensions,
    takes: "a list of extensions such as `.sh`",
    doc: "A list of extensions with their dot (`.sh`, `.tar.gz`), matched without regard to case on the destination \
          name of every write. No globs.",
    read: |cx, key, node| list::read(cx, key, KIND.takes, node, element),
    schema: |_| {
        list::schema(
            serde_json::json!({ "type": "string", "pattern": r"^\.[^/*?\[\]{}\\ \u0000]*[^/*?\[\]{}\\ .\u0000]$" }),
        )
    },
};

fn element(cx: &mut Context<'_>, key: Key, node: Node<'_>) -> Option<Spanned<String>> {
    let text = list::text(cx, key, node)?;
    if is_extension(&text.value) {
        return Some(text.spanned());
    }
    let report = list::refused(key, &text, "is no extension");
    let help = "an extension begins with a dot and holds no `/`, space or glob character";
    let bare = text.value.trim_start_matches('*').trim_start_matches('.');
    let offer = format!(".{bare}");
    cx.emit(if is_extension(&offer) {
        let quoted = cx.quoted_like(text.span, &offer);
        report.help(format!("did you mean `{offer}`?")).suggest(Suggestion::review(
            format!("write `{offer}`"),
            text.span,
            quoted,
        ))
    } else {
        report.help(help)
    });
    None
}

fn is_extension(text: &str) -> bool {
    let plain = |c: char| !matches!(c, '/' | '*' | '?' | '[' | ']' | '{' | '}' | '\\' | ' ' | '\0');
    text.strip_prefix('.')
        .is_some_and(|rest| !rest.is_empty() && !rest.ends_with('.') && rest.chars().all(plain))
}

#[cfg(test)]
mod tests {
    use super::is_extension;

    #[test]
    fn extensions() {
        for good in [".sh", ".tar.gz", ".7z", ".é"] {
            assert!(is_extension(good), "{good}");
        }
        for bad in ["sh", "", ".", "..", ".sh.", "*.sh", ".s*", ".s h", ".a/b"] {
            assert!(!is_extension(bad), "{bad}");
        }
    }
}
