//! Paths and globs over paths.

use super::{Kind, glob, list};
use crate::diag::{Code, Diagnostic, quoted};
use crate::endpoint::{Key, KeyKind};
use crate::lower::{Context, Text};
use crate::parse::Node;
use crate::paths::{
    self,
    pattern::{self, Side},
};
use crate::resolved::List;
use crate::source::Spanned;

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Paths,
    takes: "a list of paths",
    doc: "A list of paths and path globs. An entry without a glob character (`* ? [ ] { } \\`) is that path and all \
          below it; one with them is a glob over the whole path, in which `*` and `?` stop at `/` and `**` does not. A \
          relative entry starts at `base_dir`, unless it begins with `**/`; a denied name without any `/` matches at \
          any depth. `..` and `~` are refused, and so is an `allow` of the root.",
    read: |cx, key, node| list::read(cx, key, KIND.takes, node, element),
    schema,
};

/// The schema of a list of paths.
pub(crate) fn schema(key: Key) -> serde_json::Value {
    let pattern = |pattern: &str| serde_json::json!({ "pattern": pattern });
    let mut refused = vec![pattern(r"\u0000"), pattern("^~(/|$)"), pattern(r"(^|/)\.\.(/|$)")];
    if key == Key::PathsAllow {
        // The root and every spelling of it, as `is_everything` has them.
        refused.push(pattern(r"^(/+\.?)+$"));
        refused.push(pattern(r"^(/+(\.|\*|\*\*))*/+\*\*(/+(\.|\*|\*\*)?)*$"));
        refused.push(pattern(r"^\*\*(/+(\.|\*|\*\*)?)+$"));
    }
    list::schema(serde_json::json!({ "type": "string", "minLength": 1, "not": { "anyOf": refused } }))
}

/// Reads one path.
pub(crate) fn element(cx: &mut Context<'_>, key: Key, node: Node<'_>) -> Option<Spanned<String>> {
    let text = list::text(cx, key, node)?;
    if paths::is_direct(&text.value, side(key)) {
        return Some(text.spanned());
    }
    match fault(&text.value, key == Key::PathsAllow) {
        None => {}
        Some(fault) => {
            let report = refused(&text, fault);
            cx.emit(report);
            return None;
        }
    }
    if pattern::is_glob(&text.value)
        && let Err(fault) = glob::check(&text.value)
    {
        let report = glob::report(cx, &text.value, text.span, &fault);
        cx.emit(report);
        return None;
    }
    // The reader of the compiler has the last word, so that nothing that passes here fails there.
    if let Err(error) = pattern::check(&text.value, side(key)) {
        let message = format!("{} {}", quoted(&text.value), error.kind.message());
        cx.emit(Diagnostic::new(Code::InvalidGlob, message).at(text.span).help(error.kind.help()));
        return None;
    }
    Some(text.spanned())
}

/// Whether every element is one that [`element`] takes as it stands, told without reading it.
pub(crate) fn are_direct(key: Key, list: &mut List) -> bool {
    paths::are_direct(list, side(key))
}

const fn side(key: Key) -> Side {
    match key {
        Key::PathsAllow => Side::Allow,
        Key::PathsReadOnly => Side::ReadOnly,
        _ => Side::Deny,
    }
}

/// Why an entry is no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Empty,
    Nul,
    Home,
    Parent,
    Root,
}

fn fault(path: &str, allows: bool) -> Option<Fault> {
    if path.is_empty() {
        return Some(Fault::Empty);
    }
    if memchr::memchr(0, path.as_bytes()).is_some() {
        return Some(Fault::Nul);
    }
    if path == "~" || path.starts_with("~/") {
        return Some(Fault::Home);
    }
    let dotted = memchr::memchr(b'.', path.as_bytes()).is_some();
    if dotted && path.split('/').any(|part| part == "..") {
        return Some(Fault::Parent);
    }
    (allows && is_everything(path)).then_some(Fault::Root)
}

/// Whether an entry reaches the whole file system: `/`, `/**`, `/**/*`, `**/*`, and the same with `.` and empty parts.
fn is_everything(path: &str) -> bool {
    let anchored = path.starts_with('/');
    let mut parts = path.split('/').filter(|part| !matches!(*part, "" | ".")).peekable();
    match parts.peek() {
        None => anchored,
        Some(_) if anchored || path.starts_with("**/") => {
            let mut deep = false;
            parts.all(|part| {
                deep |= part == "**";
                matches!(part, "*" | "**")
            }) && deep
        }
        Some(_) => false,
    }
}

fn refused(text: &Text<'_>, fault: Fault) -> Diagnostic {
    let shown = quoted(&text.value);
    let (message, help) = match fault {
        Fault::Empty => ("an empty text is no path".to_owned(), "write a path, or remove the entry"),
        Fault::Nul => (format!("{shown} contains a NUL character"), "no file name contains one"),
        Fault::Home => {
            (format!("`~` in {shown} is not expanded"), "write the directory itself, such as `/home/user`")
        }
        Fault::Parent => (
            format!("{shown} contains `..`"),
            "write the path that is meant: requests are judged without `..`",
        ),
        Fault::Root => {
            (format!("{shown} would allow the whole file system"), "name the directories that may be touched")
        }
    };
    Diagnostic::new(Code::InvalidPath, message).at(text.span).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries() {
        for (path, wanted) in [
            ("/home/user", None),
            ("out", None),
            ("**/.git/**", None),
            ("**", None),
            ("./**", None),
            ("*", None),
            ("/*", None),
            ("/**/secret", None),
            ("a..b", None),
            ("/a/...", None),
            ("", Some(Fault::Empty)),
            ("a\0b", Some(Fault::Nul)),
            ("~/x", Some(Fault::Home)),
            ("~", Some(Fault::Home)),
            ("a/../b", Some(Fault::Parent)),
            ("..", Some(Fault::Parent)),
            ("/", Some(Fault::Root)),
            ("//", Some(Fault::Root)),
            ("/./", Some(Fault::Root)),
            ("/**", Some(Fault::Root)),
            ("/**/", Some(Fault::Root)),
            ("/**/*", Some(Fault::Root)),
            ("**/*", Some(Fault::Root)),
            ("**/**", Some(Fault::Root)),
        ] {
            assert_eq!(fault(path, true), wanted, "{path:?}");
        }
        assert_eq!(fault("/", false), None, "a deny may cover everything");
    }
}
