//! The JSON reader: `serde_json` says whether the text is JSON, then one pass of our own gives every value its place.
//!
//! A reader of our own because the tree needs byte ranges and a policy of 10 MB has to be read in a fraction of what a
//! YAML parser takes. It trusts the gate for strictness but not for its own safety: anything unexpected ends in a
//! finding.

mod gate;

use std::borrow::Cow;

use super::context::Context;
use super::limits::{self, MAX_DEPTH};
use super::mapping::{Mapping, duplicate};
use super::ours::Ours;
use super::scalar;
use super::{Entry, Node, NodeKind};
use crate::diag::{Code, Diagnostic, quoted};
use crate::source::Span;

pub(super) use gate::is_well_formed;

/// The finding that a text is no JSON from its first character on; none where it is a value of JSON, or nothing.
pub(super) fn is_none_at_all(context: &Context<'_>, name: &str) -> Option<Diagnostic> {
    let text = context.text.trim_start_matches('\u{FEFF}');
    if text.trim().is_empty() || is_well_formed(text) {
        return None;
    }
    let start = context.text.len() - text.trim_start().len();
    let message = format!("{} takes JSON, and this is none", quoted(name));
    let place = context.first_character(context.span(start..start));
    let help = "an object of JSON begins with `{`; a policy in YAML is read from a file";
    Some(Diagnostic::new(Code::Syntax, message).at(place).help(help))
}

/// Reads the text of a context as JSON.
pub(super) fn read<'s>(context: &mut Context<'s>) -> Option<Node<'s>> {
    let text = context.text;
    let start = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    if let Some(finding) = gate::fault(context, start) {
        context.report(finding);
        return None;
    }
    let mut root = Reader { context, text, at: start, ours: Ours::All }.value(1);
    if !context.is_clean()
        && let Some(entries) = root.as_ref().and_then(Node::entries)
    {
        // Only a document with findings has to be told apart.
        let ours = Ours::of(entries.iter().map(|entry| &*entry.key), context.policy, true);
        if ours != Ours::All {
            context.restart();
            root = Reader { context, text, at: start, ours }.value(1);
        }
    }
    if root.is_none() && !context.exhausted() {
        let finding = Diagnostic::new(Code::Syntax, "the document cannot be read as JSON");
        context.report(finding.at(context.span(start..start)));
    }
    root.filter(|_| !context.exhausted())
}

/// A string that was refused; the finding is made.
struct Reported;

struct Reader<'s, 'c> {
    context: &'c mut Context<'s>,
    text: &'s str,
    at: usize,
    ours: Ours,
}

impl<'s> Reader<'s, '_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// Steps over blanks and one byte, and tells which.
    fn punctuation(&mut self) -> Option<u8> {
        self.skip_blanks();
        let found = self.peek();
        self.at += 1;
        found
    }

    /// One value. `None` ends the reading: the budget is spent, or the text is not what the gate said.
    fn value(&mut self, depth: usize) -> Option<Node<'s>> {
        if self.context.exhausted() {
            return None;
        }
        self.skip_blanks();
        let start = self.at;
        let kind = match self.peek()? {
            open @ (b'{' | b'[') => {
                self.at += 1;
                if depth > MAX_DEPTH {
                    self.context.give_up(limits::too_deep().at(self.context.span(start..self.at)));
                    return None;
                }
                if open == b'{' { self.object(depth)? } else { self.array(depth)? }
            }
            b'"' => match self.string()? {
                Ok(text) => NodeKind::Text { text, quoted: true },
                Err(Reported) => NodeKind::Invalid,
            },
            b't' => self.word("true", NodeKind::Bool(true))?,
            b'f' => self.word("false", NodeKind::Bool(false))?,
            b'n' => self.word("null", NodeKind::Null { written: true })?,
            _ => self.number()?,
        };
        let span = self.context.span(start..self.at);
        Some(self.context.node(kind, span, None))
    }

    fn object(&mut self, depth: usize) -> Option<NodeKind<'s>> {
        let mut mapping = Mapping::default();
        self.skip_blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Some(NodeKind::Map(Vec::new()));
        }
        loop {
            self.skip_blanks();
            let start = self.at;
            let key = self.string()?;
            let key_span = self.context.span(start..self.at);
            if self.punctuation()? != b':' {
                return None;
            }
            let foreign = self.context.foreign;
            let ours = depth > 1 || key.as_ref().is_ok_and(|key| self.ours.holds(key));
            self.context.foreign |= !ours;
            let value = self.value(depth + 1)?;
            if let Ok(key) = key {
                self.entry(&mut mapping, key, key_span, value);
            }
            self.context.foreign = foreign;
            match self.punctuation()? {
                b',' => {}
                b'}' => return Some(NodeKind::Map(mapping.into_entries())),
                _ => return None,
            }
        }
    }

    fn entry(&mut self, mapping: &mut Mapping<'s>, key: Cow<'s, str>, key_span: Span, value: Node<'s>) {
        match mapping.find(&key) {
            Some(first) => self.context.judge(duplicate(&key, key_span, first.key_span)),
            None => mapping.push(Entry { key, key_span, value }),
        }
    }

    fn array(&mut self, depth: usize) -> Option<NodeKind<'s>> {
        let mut items = Vec::new();
        self.skip_blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Some(NodeKind::Seq(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            match self.punctuation()? {
                b',' => {}
                b']' => return Some(NodeKind::Seq(items)),
                _ => return None,
            }
        }
    }

    /// A string from its opening quote on. Only one with escapes is copied.
    fn string(&mut self) -> Option<Result<Cow<'s, str>, Reported>> {
        let open = self.at;
        let mut escaped = false;
        if self.peek()? != b'"' {
            return None;
        }
        self.at += 1;
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            let found = memchr::memchr2(b'"', b'\\', rest)?;
            self.at += found + 1;
            if rest.get(found) == Some(&b'"') {
                break;
            }
            escaped = true;
            self.at += 1;
        }
        if !escaped {
            return self.text.get(open + 1..self.at - 1).map(|text| Ok(Cow::Borrowed(text)));
        }
        let written = self.text.get(open..self.at)?;
        Some(serde_json::from_str::<String>(written).map(Cow::Owned).map_err(|error| {
            let finding = Diagnostic::new(Code::Syntax, gate::sentence(&error));
            self.context.judge(finding.at(self.context.span(open..self.at)));
            Reported
        }))
    }

    fn word(&mut self, word: &str, kind: NodeKind<'s>) -> Option<NodeKind<'s>> {
        self.at += word.len();
        self.text.get(..self.at)?.ends_with(word).then_some(kind)
    }

    fn number(&mut self) -> Option<NodeKind<'s>> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        let written = self.text.get(start..self.at)?;
        match scalar::number(written) {
            Ok(kind) => kind,
            Err(refused) => {
                let span = self.context.span(start..self.at);
                if self.context.foreign {
                    return Some(NodeKind::Text { text: Cow::Borrowed(written), quoted: false });
                }
                self.context.report(refused.finding(written, span));
                Some(NodeKind::Invalid)
            }
        }
    }
}
