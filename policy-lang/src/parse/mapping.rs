//! A mapping under construction, which knows its keys. Duplicates are found here for both formats.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Entry;
use crate::diag::{Code, Diagnostic, quoted};
use crate::source::Span;

/// Mappings are small almost always: up to this many keys are compared one by one.
const LINEAR: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Mapping<'s> {
    entries: Vec<Entry<'s>>,
    index: HashMap<Cow<'s, str>, usize>,
    /// Whether an entry was reported and left out.
    pub(super) refused: bool,
}

impl<'s> Mapping<'s> {
    /// The entry of a key.
    pub(super) fn find(&self, key: &str) -> Option<&Entry<'s>> {
        if self.index.is_empty() {
            return self.entries.iter().find(|entry| entry.key == key);
        }
        self.index.get(key).and_then(|&at| self.entries.get(at))
    }

    /// Adds an entry whose key is new.
    pub(super) fn push(&mut self, entry: Entry<'s>) {
        if !self.index.is_empty() {
            self.index.insert(entry.key.clone(), self.entries.len());
        }
        self.entries.push(entry);
        if self.index.is_empty() && self.entries.len() > LINEAR {
            self.index = self.entries.iter().enumerate().map(|(at, entry)| (entry.key.clone(), at)).collect();
        }
    }

    pub(super) fn into_entries(self) -> Vec<Entry<'s>> {
        self.entries
    }
}

/// The finding at the second of two equal keys.
pub(super) fn duplicate(key: &str, second: Span, first: Span) -> Diagnostic {
    Diagnostic::new(Code::DuplicateKey, format!("key {} appears twice in the same mapping", quoted(key)))
        .at_saying(second, "second time")
        .related(first, "first time")
        .help("keep one of the two; a later key does not override an earlier one")
}
