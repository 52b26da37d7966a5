//! Text to a tree of spanned nodes.
//!
//! Two readers, one tree: [`yaml`](self) takes a YAML parser's events, [`json`](self) reads what `serde_json` has found
//! well-formed. Both report duplicate keys, null keys, depth and size alike, so that a document means the same and fails
//! the same in either form. Reading never stops at the first problem where it can go on: the tree comes back together
//! with the findings, and what was reported stands in it as [`NodeKind::Invalid`].

mod context;
mod json;
mod layout;
pub mod limits;
mod mapping;
pub mod node;
mod ours;
mod scalar;
mod yaml;

use crate::diag::{Code, Diagnostic};
use crate::source::{Defect, SourceId, SourceMap, Span};
use context::Context;

pub use layout::Layout;
pub use node::{Entry, Node, NodeKind};

/// Which language a text is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// YAML 1.2, core schema.
    Yaml,
    /// JSON, strictly.
    Json,
    /// By the name (`.json`, `.yaml`, `.yml`), else by the text: JSON where it is well-formed JSON or begins like an
    /// object with a quoted key, else YAML.
    Auto,
}

/// Reads a source that is a policy, alone or in a template: as [`parse`] does, and where no key at its top is one of a policy
/// the whole file is a template's.
#[must_use]
pub fn policy(sources: &SourceMap, id: SourceId, format: Format) -> (Option<Node<'_>>, Vec<Diagnostic>) {
    read(sources, id, format, true)
}

/// Reads a source. The tree is there wherever something of the document could be read; it is to be trusted as a whole
/// only when no finding came with it. Of a template, which has a key `server` or `server_tests` at its top, nothing is said
/// about the values of other keys, as long as the text can be read. Findings are sorted by place.
#[must_use]
pub fn parse(sources: &SourceMap, id: SourceId, format: Format) -> (Option<Node<'_>>, Vec<Diagnostic>) {
    read(sources, id, format, false)
}

fn read(
    sources: &SourceMap,
    id: SourceId,
    format: Format,
    policy: bool,
) -> (Option<Node<'_>>, Vec<Diagnostic>) {
    let text = sources.text(id);
    let mut context = Context::new(id, text, policy);
    if let Some(defect) = sources.defect(id) {
        context.report(unreadable(id, text, defect));
        return (None, context.finish());
    }
    let json = match format {
        Format::Json => true,
        Format::Yaml => false,
        Format::Auto => looks_like_json(sources.name(id), text),
    };
    if format == Format::Json
        && !text.trim_start_matches('\u{FEFF}').trim_start().starts_with(['{', '[', '"', '/'])
        && let Some(finding) = json::is_none_at_all(&context, sources.name(id))
    {
        context.report(finding);
        return (None, context.finish());
    }
    let root = if json { json::read(&mut context) } else { yaml::read(&mut context) };
    let root = root.filter(|root| is_mapping(&mut context, root));
    (root, context.finish())
}

/// Reports a root that is no mapping.
fn is_mapping(context: &mut Context<'_>, root: &Node<'_>) -> bool {
    let finding = match root.kind {
        NodeKind::Map(_) => return true,
        NodeKind::Invalid => return false,
        NodeKind::Null { written: false } => empty(root.span),
        _ => Diagnostic::new(
            Code::WrongType,
            format!("the document must be a mapping, this is {}", root.describe()),
        )
        .at(context.first_character(root.span))
        .help(match &root.kind {
            NodeKind::Text { text, quoted: false } if text.contains(':') => {
                "write `key: value`, with a space after the colon"
            }
            _ => {
                "the keys of a policy are `preset`, `base_dir`, `groups`, `defaults`, `endpoints` and `auth`"
            }
        }),
    };
    context.report(finding);
    false
}

/// A file without a word is more often a failed mount than a policy, so it is no policy.
fn empty(span: Span) -> Diagnostic {
    Diagnostic::new(Code::WrongType, "the document is empty")
        .at(span)
        .help("write `{}` for a policy without rules")
}

fn looks_like_json(name: &str, text: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if extension.eq_ignore_ascii_case("json") {
        return true;
    }
    if extension.eq_ignore_ascii_case("yaml") || extension.eq_ignore_ascii_case("yml") {
        return false;
    }
    let text = text.trim_start_matches('\u{FEFF}').trim_start();
    let quoted_key = text.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with('"'));
    quoted_key || (text.starts_with(['{', '[']) && json::is_well_formed(text))
}

fn unreadable(id: SourceId, text: &str, defect: Defect) -> Diagnostic {
    match defect {
        Defect::TooLarge { .. } => limits::too_many_bytes().at(Span { source: id, start: 0, end: 0 }),
        Defect::NotUtf8 { offset, utf16 } => {
            let width =
                text.get(offset as usize..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
            let end = offset + u32::try_from(width).unwrap_or(0);
            let help =
                if utf16 { "the file looks like UTF-16; save it as UTF-8" } else { "save the file as UTF-8" };
            Diagnostic::new(Code::Syntax, format!("byte {offset} is not valid UTF-8"))
                .at(Span { source: id, start: offset, end })
                .help(help)
        }
    }
}

#[cfg(test)]
mod tests;
