//! Reads the parts of a declaration: each reader takes what it wants or says what stands there instead.

use policy_lang::diag::{Code, Diagnostic, Suggestion, quoted, suggest};
use policy_lang::parse::{Entry, Node, NodeKind};
use policy_lang::source::{SourceMap, Span};

/// The findings of one run.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    sources: &'a SourceMap,
    found: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(sources: &'a SourceMap) -> Self {
        Self { sources, found: Vec::new() }
    }

    pub(super) fn finish(self) -> Vec<Diagnostic> {
        self.found
    }

    pub(super) fn emit(&mut self, finding: Diagnostic) {
        self.found.push(finding);
    }

    /// The entries of a mapping.
    pub(super) fn mapping<'n, 's>(&mut self, what: &str, node: &'n Node<'s>) -> Option<&'n [Entry<'s>]> {
        if let NodeKind::Map(entries) = &node.kind {
            return Some(entries);
        }
        self.wrong(what, "a mapping", node);
        None
    }

    /// The elements of a list.
    pub(super) fn list<'n, 's>(&mut self, what: &str, node: &'n Node<'s>) -> Option<&'n [Node<'s>]> {
        if let NodeKind::Seq(items) = &node.kind {
            return Some(items);
        }
        self.wrong(what, "a list", node);
        None
    }

    /// Text; what YAML reads as a number or a boolean must be quoted.
    pub(super) fn text(&mut self, what: &str, node: &Node<'_>) -> Option<String> {
        if let NodeKind::Text { text, .. } = &node.kind {
            return Some(text.clone().into_owned());
        }
        self.wrong(what, "text", node);
        None
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self, what: &str, node: &Node<'_>) -> Option<bool> {
        if let NodeKind::Bool(flag) = node.kind {
            return Some(flag);
        }
        self.wrong(what, "true or false", node);
        None
    }

    /// One of a closed set of words.
    pub(super) fn word<T: Copy>(&mut self, what: &str, node: &Node<'_>, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(what, node)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let message = format!("{what} takes {}, not {}", either(&names), quoted(&text));
        let finding = Diagnostic::new(Code::UnknownValue, message).at(node.span);
        let finding = self.suggest(finding, &text, node.span, &names);
        self.emit(finding);
        None
    }

    /// A positive whole number, or text that `parse` reads as one.
    pub(super) fn quantity<E>(
        &mut self,
        what: &str,
        node: &Node<'_>,
        takes: &str,
        code: Code,
        parse: impl Fn(&str) -> Result<u64, E>,
    ) -> Option<u64> {
        let read = match &node.kind {
            NodeKind::Int(number) => u64::try_from(*number).ok().filter(|number| *number > 0),
            NodeKind::Text { text, .. } => parse(text).ok(),
            NodeKind::Invalid => return None,
            _ => None,
        };
        if read.is_none() {
            self.emit(Diagnostic::new(code, format!("{what} takes {takes}")).at(node.span));
        }
        read
    }

    /// Reports every entry whose key is none of `keys`, and says whether there was one.
    pub(super) fn foreign(&mut self, place: &str, entries: &[Entry<'_>], keys: &[&str]) -> bool {
        let before = self.found.len();
        for entry in entries.iter().filter(|entry| !keys.contains(&entry.key.as_ref())) {
            let message = format!("unknown key {} in {place}", quoted(&entry.key));
            let finding = Diagnostic::new(Code::UnknownKey, message).at(entry.key_span);
            let finding = self.suggest(finding, &entry.key, entry.key_span, keys);
            self.emit(finding);
        }
        self.found.len() > before
    }

    /// Offers what is near to `word`, or else names all there is.
    pub(super) fn suggest(&self, finding: Diagnostic, word: &str, at: Span, known: &[&str]) -> Diagnostic {
        let near = suggest::closest(word, known.iter().copied());
        if near.is_empty() {
            return finding.help(if known.is_empty() {
                "there is none".to_owned()
            } else {
                format!("known here: {}", known.join(", "))
            });
        }
        let finding = finding.help(format!("did you mean {}?", either(&near)));
        near.iter().fold(finding, |finding, near| {
            let fixed = match self.slice(at).chars().next() {
                Some(quote @ ('"' | '\'')) => format!("{quote}{near}{quote}"),
                _ => (*near).to_owned(),
            };
            finding.suggest(Suggestion::review(format!("write `{near}`"), at, fixed))
        })
    }

    /// Says that `what` wants `takes`. What the parser has reported already is passed over.
    pub(super) fn wrong(&mut self, what: &str, takes: &str, node: &Node<'_>) {
        let finding = match node.kind {
            NodeKind::Invalid => return,
            NodeKind::Null { .. } => Diagnostic::new(Code::WrongType, format!("{what} has no value"))
                .help(format!("give it {takes}, or leave the key out")),
            _ => {
                let there = node.describe();
                let finding = Diagnostic::new(Code::WrongType, format!("{what} takes {takes}, not {there}"));
                match node.kind {
                    NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) if takes == "text" => {
                        let quoted = format!("\"{}\"", self.slice(node.span));
                        finding.help("quote it").suggest(Suggestion::review("quote it", node.span, quoted))
                    }
                    _ => finding,
                }
            }
        };
        self.emit(finding.at(node.span).via(node.via));
    }

    fn slice(&self, span: Span) -> &'a str {
        self.sources.text(span.source).get(span.range()).unwrap_or_default()
    }
}

/// `` `a`, `b` or `c` ``
fn either(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
