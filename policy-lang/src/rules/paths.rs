//! Paths and globs over paths.

use super::{Kind, glob, list};
use crate::diag::{Code, Diagnostic, quoted};
use crate::endpoint::{Catalogue, Key, KeyKind};
use crate::lower::{Context, Text};
use crate::parse::{Node, NodeKind};
use crate::paths::{
    self,
    pattern::{self, Side},
};
use crate::resolved::{Entries, List};
use crate::source::{SourceMap, Span, Spanned};

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Paths,
    takes: "a list of paths",
    doc: "A list of paths and path globs. An entry without a glob character (`* ? [ ] { } \\`) is that path and all \
          below it; one with them is a glob over the whole path, in which `*` and `?` stop at `/` and `**` does not. A \
          relative entry starts at `base_dir`, unless it begins with `**/`; a denied name without any `/` matches at \
          any depth. `..`, `~` and `$HOME` are refused, and so is an `allow` of \
          the root.",
    read: |cx, key, node| list::read(cx, key, KIND.takes, node, element),
    schema,
};

/// A variable of the shell as the first part of a path.
const VARIABLE: &str = r"^\$([A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})(/|$)";

/// The schema of a list of paths.
pub(crate) fn schema(key: Key) -> serde_json::Value {
    let pattern = |pattern: &str| serde_json::json!({ "pattern": pattern });
    let mut refused =
        vec![pattern(r"\u0000"), pattern("^~(/|$)"), pattern(VARIABLE), pattern(r"(^|/)\.\.(/|$)")];
    if key == Key::PathsAllow {
        // The root and every spelling of it, as `is_everything` has them.
        refused.push(pattern(r"^(/+\.?)+$"));
        let (part, deep) = (r"(\.|\?*\*[*?]*)", r"[*?]*\*\*[*?]*");
        refused.push(pattern(&format!("^(/+{part})*/+{deep}(/+{part}?)*$")));
        refused.push(pattern(&format!(r"^\*\*(/+{part}?)+$")));
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
pub(crate) fn are_direct(key: Key, list: &List) -> bool {
    paths::are_direct(list.entries(), side(key))
}

/// The first entry that [`element`] does not take as it stands, and what it says of it.
pub(crate) fn refusal(entries: &Entries, side: Side) -> Option<(u32, Box<str>)> {
    if paths::are_direct(entries, side) {
        return None;
    }
    let (key, sources, catalogue) = (key(side), SourceMap::default(), Catalogue::builtin());
    (0..).zip(entries.values()).find_map(|(number, entry)| {
        let mut cx = Context::new(&sources, Span::NOWHERE.source, &catalogue);
        let node = Node {
            kind: NodeKind::Text { text: entry.into(), quoted: true },
            span: Span::NOWHERE,
            via: None,
        };
        let read = element(&mut cx, key, node);
        match cx.finish().into_iter().next() {
            Some(found) => Some((number, found.message.into())),
            None if read.is_some_and(|read| read.value == entry) => None,
            None => Some((number, super::NOT_TAKEN.into())),
        }
    })
}

const fn key(side: Side) -> Key {
    match side {
        Side::Allow => Key::PathsAllow,
        Side::ReadOnly => Key::PathsReadOnly,
        Side::Deny => Key::PathsDeny,
    }
}

/// The side of path rules that a key speaks of.
pub(crate) const fn side(key: Key) -> Side {
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
    Variable,
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
    if is_variable(path) {
        return Some(Fault::Variable);
    }
    let dotted = memchr::memchr(b'.', path.as_bytes()).is_some();
    if dotted && path.split('/').any(|part| part == "..") {
        return Some(Fault::Parent);
    }
    (allows && is_everything(path)).then_some(Fault::Root)
}

/// Whether an entry reaches the whole file system: `/`, `/**`, `/**/*`, `/?**`, `**/*`, and the same with `.` and empty parts,
/// or as one of several alternatives.
fn is_everything(path: &str) -> bool {
    any_for_all(path, &mut 0)
}

/// The most spellings of one entry that are looked at; more of nothing but stars are no path that anybody means.
const SPELLINGS: usize = 1_000;

/// Whether one of the texts that the alternatives of a glob stand for is [`is_one_for_all`].
fn any_for_all(glob: &str, tried: &mut usize) -> bool {
    let Some((before, inside, after)) = alternatives(glob) else {
        *tried += 1;
        return *tried > SPELLINGS || is_one_for_all(glob);
    };
    // A plain character in a spelling cannot be taken back.
    let stars = |text: &str| text.bytes().all(|byte| matches!(byte, b'*' | b'?' | b'/' | b'.'));
    stars(before)
        && inside
            .iter()
            .filter(|one| one.contains('{') || stars(one))
            .any(|one| any_for_all(&format!("{before}{one}{after}"), tried))
}

/// The first `{..}` of a glob taken apart, with what stands before and behind it.
fn alternatives(glob: &str) -> Option<(&str, Vec<&str>, &str)> {
    let (mut depth, mut open, mut from, mut inside) = (0_usize, 0, 0, Vec::new());
    let mut characters = glob.char_indices();
    let mut class = false;
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            ']' => class = false,
            '[' => class = true,
            _ if class => {}
            '{' => {
                depth += 1;
                if depth == 1 {
                    (open, from) = (at, at + 1);
                }
            }
            ',' if depth == 1 => {
                inside.push(glob.get(from..at)?);
                from = at + 1;
            }
            '}' if depth == 1 => {
                inside.push(glob.get(from..at)?);
                return Some((glob.get(..open)?, inside, glob.get(at + 1..)?));
            }
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Whether stars and question marks are all there is of a path, and one of its parts goes through `/`.
fn is_one_for_all(path: &str) -> bool {
    let anchored = path.starts_with('/');
    let mut parts = path.split('/').filter(|part| !matches!(*part, "" | ".")).peekable();
    match parts.peek() {
        None => anchored,
        Some(_) if anchored || path.starts_with("**/") => {
            let mut deep = false;
            parts.all(|part| {
                deep |= part.contains("**");
                part.contains('*') && part.bytes().all(|byte| matches!(byte, b'*' | b'?'))
            }) && deep
        }
        Some(_) => false,
    }
}

/// Whether an entry begins with a variable of the shell: `$HOME` or `${HOME}` as its first part.
fn is_variable(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    let Some(name) = first.strip_prefix('$') else { return false };
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn refused(text: &Text<'_>, fault: Fault) -> Diagnostic {
    let shown = quoted(&text.value);
    let (message, help) = match fault {
        Fault::Empty => ("an empty text is no path".to_owned(), "write a path, or remove the entry"),
        Fault::Nul => (format!("{shown} contains a NUL character"), "no file name contains one"),
        Fault::Home => {
            (format!("`~` in {shown} is not expanded"), "write the directory itself, such as `/home/user`")
        }
        Fault::Variable => (
            format!("the variable in {shown} is not expanded"),
            "write the directory itself, such as `/home/user`, or `\\$` where the file is called so",
        ),
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
            ("/?/**", None),
            ("/**/??", None),
            ("/{a,b}/**", None),
            ("/[{]**,}", None),
            ("{**,x}", None),
            ("$RECYCLE.BIN", None),
            ("a/$HOME", None),
            ("\\$HOME", None),
            ("a..b", None),
            ("/a/...", None),
            ("", Some(Fault::Empty)),
            ("a\0b", Some(Fault::Nul)),
            ("~/x", Some(Fault::Home)),
            ("~", Some(Fault::Home)),
            ("a/../b", Some(Fault::Parent)),
            ("..", Some(Fault::Parent)),
            ("$HOME", Some(Fault::Variable)),
            ("$HOME/.ssh", Some(Fault::Variable)),
            ("${HOME}/x", Some(Fault::Variable)),
            ("/", Some(Fault::Root)),
            ("//", Some(Fault::Root)),
            ("/./", Some(Fault::Root)),
            ("/**", Some(Fault::Root)),
            ("/**/", Some(Fault::Root)),
            ("/**/*", Some(Fault::Root)),
            ("**/*", Some(Fault::Root)),
            ("**/**", Some(Fault::Root)),
            ("/?**", Some(Fault::Root)),
            ("/**?", Some(Fault::Root)),
            ("**/?*", Some(Fault::Root)),
            ("/?*/**", Some(Fault::Root)),
            ("/{a,**}", Some(Fault::Root)),
            ("/{a,{b,?**}}/*", Some(Fault::Root)),
            ("{/**,/x}", Some(Fault::Root)),
        ] {
            assert_eq!(fault(path, true), wanted, "{path:?}");
        }
        assert_eq!(fault("/", false), None, "a deny may cover everything");
    }
}
