//! Small changes to the text of a document that leave its style alone: indentation, block or flow, quotes of JSON.

use crate::parse::{self, Entry, Format, Node, NodeKind};
use crate::source::{SourceId, SourceMap, Span};

/// A replacement of bytes of the document's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// First byte replaced.
    pub byte_start: usize,
    /// One past the last; equal to the first where text is inserted.
    pub byte_end: usize,
    /// The new text.
    pub replacement: String,
}

/// What is written.
#[derive(Debug, Clone)]
pub(super) enum Written {
    /// As it stands: `true`, `1048576`.
    Plain(String),
    /// A list, on one line.
    List(Vec<Item>),
}

/// One element of a list.
#[derive(Debug, Clone)]
pub(super) enum Item {
    /// Text, quoted where it must be.
    Text(String),
    /// A number.
    Number(String),
}

/// The keys of a policy document; a file with one of them at its top is a document without `server:`.
const DOCUMENT: [&str; 6] = ["preset", "base_dir", "groups", "defaults", "endpoints", "auth"];

/// A document that can be changed.
#[derive(Debug)]
pub(super) struct Editor<'a> {
    text: &'a str,
    root: Option<Node<'a>>,
    json: bool,
    step: usize,
}

impl<'a> Editor<'a> {
    pub(super) fn new(sources: &'a SourceMap, source: SourceId, format: Format) -> Self {
        let text = sources.text(source);
        let root = if text.trim().is_empty() { None } else { parse::policy(sources, source, format).0 };
        let json = text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
        let step = root.as_ref().and_then(|root| indent_step(text, root)).unwrap_or(2);
        Self { text, root, json, step }
    }

    /// The tree of the policy within the document; none where it is yet to be written.
    pub(super) fn policy(&self) -> Option<&Node<'a>> {
        self.prefix().iter().try_fold(self.root.as_ref()?, |node, key| node.get(key))
    }

    /// Where the keys of the policy begin: under `server` in a template.
    fn prefix(&self) -> &'static [&'static str] {
        let Some(NodeKind::Map(entries)) = self.root.as_ref().map(|root| &root.kind) else { return &[] };
        let has = |key: &str| entries.iter().any(|entry| entry.key == key);
        let bare = entries.is_empty() || DOCUMENT.iter().any(|key| has(key));
        if has("server") || !(bare || self.json) { &["server"] } else { &[] }
    }

    /// Says `value` under the keys of `path`, making what is missing. `None` where the document is not such that this
    /// could be done without rewriting it.
    pub(super) fn set(&self, path: &[&str], value: &Written) -> Option<TextEdit> {
        let path: Vec<&str> = self.prefix().iter().chain(path).copied().collect();
        let Some(root) = &self.root else {
            return Some(self.at(
                0,
                0,
                format!("{}\n", self.block(&path, value, 0).trim_start_matches('\n')),
            ));
        };
        self.set_in(root, &path, value)
    }

    fn set_in(&self, node: &Node<'_>, path: &[&str], value: &Written) -> Option<TextEdit> {
        let [key, rest @ ..] = path else { return Some(self.replace(node.span, &self.flow_value(value))) };
        let NodeKind::Map(entries) = &node.kind else { return self.widen(node, path, value) };
        match entries.iter().find(|entry| entry.key == *key) {
            Some(entry) => self.set_in(&entry.value, rest, value),
            None => self.insert(node, entries, path, value),
        }
    }

    /// The short form `shell: false`, where a rule is to say more.
    fn widen(&self, node: &Node<'_>, path: &[&str], value: &Written) -> Option<TextEdit> {
        match (&node.kind, path) {
            (NodeKind::Bool(_), ["enabled"]) => Some(self.replace(node.span, &self.flow_value(value))),
            (NodeKind::Bool(short), _) => {
                let more = self.flow_entry(path, value);
                let replacement = format!("{{{}: {short}, {more}}}", self.key("enabled"));
                Some(self.replace(node.span, &replacement))
            }
            (NodeKind::Null { .. }, _) => {
                let more = self.flow_entry(path, value);
                let gap = if self.text.get(..node.span.start as usize)?.ends_with(':') { " " } else { "" };
                Some(self.replace(node.span, &format!("{gap}{{{more}}}")))
            }
            _ => None,
        }
    }

    /// A new entry at the end of a mapping.
    fn insert(
        &self,
        map: &Node<'_>,
        entries: &[Entry<'_>],
        path: &[&str],
        value: &Written,
    ) -> Option<TextEdit> {
        let own =
            |entry: &&Entry<'_>| entry.key_span.start >= map.span.start && entry.key_span.end <= map.span.end;
        let last = entries.iter().rfind(own);
        if self.slice(map.span).starts_with('{') {
            let more = self.flow_entry(path, value);
            return Some(match last {
                Some(last) => {
                    let at = (last.value.span.end as usize).max(last.key_span.end as usize);
                    self.at(at, at, format!("{}{more}", self.flow_gap(last)))
                }
                None => {
                    let at = map.span.start as usize + 1;
                    self.at(at, at, more)
                }
            });
        }
        let first = entries.iter().find(own)?;
        let indent = self.column(first.key_span.start as usize);
        let end = self.end_of_content(last?);
        // The line that ends the mapping may have a comment, which stays where it is.
        let line_end = self.text.get(end..)?.find('\n').map_or(self.text.len(), |at| end + at);
        let at = self.text.get(..line_end)?.strip_suffix('\r').map_or(line_end, str::len);
        Some(self.at(at, at, self.block(path, value, indent)))
    }

    /// What stands between two entries of a flow mapping: as the document has it.
    fn flow_gap(&self, last: &Entry<'_>) -> String {
        let before = self.text.get(..last.key_span.start as usize).unwrap_or_default();
        let white = before.len() - before.trim_end().len();
        let gap = before.get(before.len() - white..).unwrap_or_default();
        if gap.contains('\n') { format!(",{gap}") } else { ", ".to_owned() }
    }

    /// One past the last byte that belongs to an entry, trailing blank lines not counted.
    fn end_of_content(&self, entry: &Entry<'_>) -> usize {
        let end = deepest_end(&entry.value).max(entry.key_span.end as usize);
        let from = entry.key_span.start as usize;
        from + self.text.get(from..end).map_or(0, |text| text.trim_end().len())
    }

    /// `key: value` over as many lines as the path is long, each beginning with a line break.
    fn block(&self, path: &[&str], value: &Written, indent: usize) -> String {
        let mut text = String::new();
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        for (depth, key) in path.iter().enumerate() {
            text.push_str(newline);
            text.push_str(&" ".repeat(indent + depth * self.step));
            text.push_str(&scalar(key));
            text.push(':');
        }
        text.push(' ');
        text.push_str(&self.flow_value(value));
        text
    }

    fn flow_entry(&self, path: &[&str], value: &Written) -> String {
        match path {
            [] => self.flow_value(value),
            [key] => format!("{}: {}", self.key(key), self.flow_value(value)),
            [key, rest @ ..] => format!("{}: {{{}}}", self.key(key), self.flow_entry(rest, value)),
        }
    }

    fn flow_value(&self, value: &Written) -> String {
        match value {
            Written::Plain(text) => text.clone(),
            Written::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.item(item)).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }

    fn item(&self, item: &Item) -> String {
        match item {
            Item::Number(text) => text.clone(),
            Item::Text(text) if self.json => quoted(text),
            Item::Text(text) => scalar(text),
        }
    }

    fn key(&self, key: &str) -> String {
        if self.json { quoted(key) } else { scalar(key) }
    }

    /// Adds an element to the list that stands under `path`; `None` where none does.
    pub(super) fn append(&self, path: &[&str], item: &Item) -> Option<TextEdit> {
        let list = self.find(path)?;
        let NodeKind::Seq(items) = &list.kind else { return None };
        let flow = self.slice(list.span).starts_with('[');
        match items.last() {
            None => {
                let at = list.span.start as usize + 1;
                Some(self.at(at, at, self.item(item)))
            }
            Some(last) if flow => {
                let at = last.span.end as usize;
                Some(self.at(at, at, format!(", {}", self.item(item))))
            }
            Some(last) => {
                let start = last.span.start as usize;
                let line = self.text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
                let indent = self.text.get(line..start)?.find('-')?;
                let end = last.span.end as usize;
                let line_end = self.text.get(end..)?.find('\n').map_or(self.text.len(), |at| end + at);
                let at = self.text.get(..line_end)?.strip_suffix('\r').map_or(line_end, str::len);
                let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
                Some(self.at(at, at, format!("{newline}{}- {}", " ".repeat(indent), self.item(item))))
            }
        }
    }

    fn find(&self, path: &[&str]) -> Option<&Node<'a>> {
        let mut path = self.prefix().iter().chain(path);
        path.try_fold(self.root.as_ref()?, |node, key| match &node.kind {
            NodeKind::Map(entries) => {
                entries.iter().find(|entry| entry.key == **key).map(|entry| &entry.value)
            }
            NodeKind::Seq(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Takes the list element that begins at that byte out of its list.
    pub(super) fn remove(&self, byte: usize) -> Option<TextEdit> {
        let (list, items, at) = sequence_with(self.root.as_ref()?, byte)?;
        let item = items.get(at)?;
        if items.len() == 1 {
            let start = list.span.start as usize;
            if self.slice(list.span).starts_with('[') {
                return Some(self.at(start, list.span.end as usize, "[]".to_owned()));
            }
            // The list stands below its key: the empty one goes behind the colon.
            let colon = self.text.get(..start)?.trim_end_matches([' ', '\r', '\n', '-']).len();
            return Some(self.at(colon, item.span.end as usize, " []".to_owned()));
        }
        if self.slice(list.span).starts_with('[') {
            return Some(match items.get(at + 1) {
                Some(next) => self.at(item.span.start as usize, next.span.start as usize, String::new()),
                None => {
                    let before = items.get(at.checked_sub(1)?)?;
                    self.at(before.span.end as usize, item.span.end as usize, String::new())
                }
            });
        }
        let start = self.text.get(..item.span.start as usize)?.rfind('\n').map_or(0, |at| at + 1);
        let end = item.span.end as usize;
        let end = self.text.get(end..)?.find('\n').map_or(self.text.len(), |at| end + at + 1);
        Some(self.at(start, end, String::new()))
    }

    fn replace(&self, span: Span, text: &str) -> TextEdit {
        self.at(span.start as usize, span.end as usize, text.to_owned())
    }

    #[expect(clippy::unused_self, reason = "reads as what it is: a change at a place of this document")]
    fn at(&self, byte_start: usize, byte_end: usize, replacement: String) -> TextEdit {
        TextEdit { byte_start, byte_end, replacement }
    }

    fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Characters between the beginning of the line and that byte.
    fn column(&self, byte: usize) -> usize {
        let before = self.text.get(..byte).unwrap_or_default();
        before.rfind('\n').map_or(before, |at| before.get(at + 1..).unwrap_or_default()).chars().count()
    }
}

/// The text with edits applied; none of them may overlap.
#[must_use]
pub fn apply(text: &str, edits: &[TextEdit]) -> Option<String> {
    let mut edits: Vec<&TextEdit> = edits.iter().collect();
    edits.sort_by_key(|edit| edit.byte_start);
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        result.push_str(text.get(from..edit.byte_start)?);
        result.push_str(&edit.replacement);
        from = edit.byte_end;
    }
    result.push_str(text.get(from..)?);
    Some(result)
}

/// Edits made one after another, each to what the ones before it left, kept as edits of the first text.
#[derive(Debug, Default)]
pub(super) struct Made {
    edits: Vec<TextEdit>,
    /// Two edits touched the same place, so they are no longer apart.
    entangled: bool,
}

impl Made {
    pub(super) fn add(&mut self, edit: TextEdit) {
        match (self.before(edit.byte_start), self.before(edit.byte_end)) {
            (Some(byte_start), Some(byte_end)) => {
                let at = self.edits.partition_point(|made| made.byte_start <= byte_start);
                self.edits.insert(at, TextEdit { byte_start, byte_end, ..edit });
            }
            _ => self.entangled = true,
        }
    }

    /// Where a byte of the text as it is now was in the first text; none within what an edit put there.
    fn before(&self, byte: usize) -> Option<usize> {
        // As bytes added and taken away up to here.
        let (mut added, mut taken) = (0, 0);
        for made in &self.edits {
            let start = made.byte_start + added - taken;
            if byte < start
                || (byte == start && !made.replacement.is_empty() && made.byte_start < made.byte_end)
            {
                break;
            }
            if byte < start + made.replacement.len() {
                return None;
            }
            added += made.replacement.len();
            taken += made.byte_end - made.byte_start;
        }
        (byte + taken).checked_sub(added)
    }

    /// The edits, none overlapping; none where they cannot be told apart.
    pub(super) fn finish(self) -> Option<Vec<TextEdit>> {
        let apart = self.edits.windows(2).all(|pair| match pair {
            [first, second] => first.byte_end <= second.byte_start,
            _ => true,
        });
        (apart && !self.entangled).then_some(self.edits)
    }
}

/// The one edit that makes `after` of `before`: everything between what the two share at both ends.
#[must_use]
pub(super) fn difference(before: &str, after: &str) -> TextEdit {
    let shared = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    let start = (0..=shared)
        .rev()
        .find(|at| before.is_char_boundary(*at) && after.is_char_boundary(*at))
        .unwrap_or(0);
    let room = before.len().min(after.len()) - start;
    let tail = before.bytes().rev().zip(after.bytes().rev()).take(room).take_while(|(a, b)| a == b).count();
    let fits = |tail: &usize| {
        before.is_char_boundary(before.len() - tail) && after.is_char_boundary(after.len() - tail)
    };
    let tail = (0..=tail).rev().find(fits).unwrap_or(0);
    TextEdit {
        byte_start: start,
        byte_end: before.len() - tail,
        replacement: after.get(start..after.len() - tail).unwrap_or_default().to_owned(),
    }
}

/// How far a nested mapping is indented in this document.
fn indent_step(text: &str, node: &Node<'_>) -> Option<usize> {
    let NodeKind::Map(entries) = &node.kind else { return None };
    let column = |at: u32| {
        let before = text.get(..at as usize)?;
        Some(before.len() - before.rfind('\n').map_or(0, |at| at + 1))
    };
    entries.iter().find_map(|entry| {
        let NodeKind::Map(inner) = &entry.value.kind else { return None };
        let below = column(inner.first()?.key_span.start)?.checked_sub(column(entry.key_span.start)?)?;
        let block = !text.get(entry.value.span.start as usize..)?.starts_with('{');
        (block && below > 0).then_some(below)
    })
}

fn deepest_end(node: &Node<'_>) -> usize {
    // What was reached through an alias stands elsewhere: the alias ends here.
    if let Some(alias) = node.via {
        return alias.end as usize;
    }
    let own =
        |entry: &&Entry<'_>| entry.key_span.start >= node.span.start && entry.key_span.end <= node.span.end;
    let inner = match &node.kind {
        NodeKind::Map(entries) => entries.iter().filter(own).map(|entry| deepest_end(&entry.value)).max(),
        NodeKind::Seq(items) => items.iter().map(deepest_end).max(),
        _ => None,
    };
    inner.unwrap_or(node.span.end as usize)
}

fn sequence_with<'n, 's>(node: &'n Node<'s>, byte: usize) -> Option<(&'n Node<'s>, &'n [Node<'s>], usize)> {
    match &node.kind {
        NodeKind::Map(entries) => entries.iter().find_map(|entry| sequence_with(&entry.value, byte)),
        NodeKind::Seq(items) => match items.iter().position(|item| item.span.start as usize == byte) {
            Some(at) => Some((node, items, at)),
            None => items.iter().find_map(|item| sequence_with(item, byte)),
        },
        _ => None,
    }
}

/// Text as a YAML scalar that also stands within `[]` and `{}`, quoted only where it must be.
pub(crate) fn scalar(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '.' | '-' | ':' | '+');
    let first = text.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '/'));
    let word =
        matches!(text.to_ascii_lowercase().as_str(), "true" | "false" | "null" | "yes" | "no" | "on" | "off");
    let safe = first && !word && text.chars().all(plain) && !text.ends_with(':');
    if safe { text.to_owned() } else { quoted(text) }
}

/// Text in the double quotes of JSON, which YAML reads the same.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
