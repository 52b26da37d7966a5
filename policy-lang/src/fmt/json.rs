//! A JSON document laid out anew: two spaces a level, a member a line, lists of scalars on one line where they fit. Scalars
//! stand as they were written.

use crate::parse::{Entry, Node, NodeKind};

/// The columns that a list on one line may take.
const WIDTH: usize = 100;

pub(super) fn format(text: &str, root: &Node<'_>) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut out = String::with_capacity(text.len());
    if text.starts_with('\u{feff}') {
        out.push('\u{feff}');
    }
    let mut writer = Writer { text, newline, out };
    writer.value(root, 0);
    writer.out.push_str(newline);
    writer.out
}

struct Writer<'a> {
    text: &'a str,
    newline: &'static str,
    out: String,
}

impl Writer<'_> {
    fn value(&mut self, node: &Node<'_>, depth: usize) {
        match &node.kind {
            NodeKind::Map(entries) if entries.is_empty() => self.out.push_str("{}"),
            NodeKind::Map(entries) => self.members(entries, depth),
            NodeKind::Seq(items) if items.is_empty() => self.out.push_str("[]"),
            NodeKind::Seq(items) => self.items(items, depth),
            _ => self.out.push_str(self.text.get(node.span.range()).unwrap_or_default()),
        }
    }

    fn members(&mut self, entries: &[Entry<'_>], depth: usize) {
        self.out.push('{');
        for (at, entry) in entries.iter().enumerate() {
            self.line(at, depth + 1);
            self.out.push_str(self.text.get(entry.key_span.range()).unwrap_or_default());
            self.out.push_str(": ");
            self.value(&entry.value, depth + 1);
        }
        self.line(0, depth);
        self.out.push('}');
    }

    fn items(&mut self, items: &[Node<'_>], depth: usize) {
        let scalar = |item: &Node<'_>| !matches!(item.kind, NodeKind::Map(_) | NodeKind::Seq(_));
        if items.iter().all(scalar) {
            let shown: Vec<&str> =
                items.iter().map(|item| self.text.get(item.span.range()).unwrap_or_default()).collect();
            let column = self.out.len() - self.out.rfind('\n').map_or(0, |at| at + 1);
            let line = shown.join(", ");
            if column + line.chars().count() + 3 <= WIDTH {
                self.out.push('[');
                self.out.push_str(&line);
                self.out.push(']');
                return;
            }
        }
        self.out.push('[');
        for (at, item) in items.iter().enumerate() {
            self.line(at, depth + 1);
            self.value(item, depth + 1);
        }
        self.line(0, depth);
        self.out.push(']');
    }

    /// A line break, after a comma where something stands before.
    fn line(&mut self, at: usize, depth: usize) {
        if at > 0 {
            self.out.push(',');
        }
        self.out.push_str(self.newline);
        self.out.extend(std::iter::repeat_n("  ", depth));
    }
}
