//! The entries of one side as expressions, read again from what the rules say.

use crate::diff::automata::TooLarge;
use crate::diff::view::View;
use crate::endpoint::Key;
use crate::matchers::extension::Extension;
use crate::paths::fold;
use crate::paths::pattern::{self, Side};
use crate::paths::rest;
use crate::resolved::ResolvedValue;
use std::collections::BTreeSet;

/// Expressions of each list; absent where the list is.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) allow: Vec<String>,
    pub(super) deny: Vec<String>,
    pub(super) read_only: Vec<String>,
    /// The base directory and what it lies in: never removed.
    pub(super) kept: Vec<String>,
    pub(super) allow_extensions: Option<Vec<String>>,
    pub(super) deny_extensions: Vec<String>,
    /// Every character that an entry names, in both cases.
    pub(super) named: BTreeSet<char>,
}

impl Entries {
    pub(super) fn of(view: &View<'_>) -> Result<Self, TooLarge> {
        let base = view.policy.base_dir();
        let mut entries = Self::default();
        match view.statements(Key::PathsAllow).next().map(|statement| &statement.value) {
            Some(ResolvedValue::List(list)) => {
                for element in list {
                    entries.read(&element.value, Side::Allow, base)?;
                }
            }
            _ => entries.read(base, Side::Allow, base)?,
        }
        for statement in view.statements(Key::PathsDeny) {
            if let ResolvedValue::List(list) = &statement.value {
                for element in list {
                    entries.read(&element.value, Side::Deny, base)?;
                }
            }
        }
        match view.statements(Key::PathsReadOnly).next().map(|statement| &statement.value) {
            Some(ResolvedValue::Bool(true)) => entries.read_only.push(r".*\z".to_owned()),
            Some(ResolvedValue::List(list)) => {
                for element in list {
                    entries.read(&element.value, Side::ReadOnly, base)?;
                }
            }
            _ => {}
        }
        entries.keep(base);
        if let Some(rules) = &view.rules.params.extensions {
            let list = rules.allow.as_ref();
            entries.allow_extensions = list.map(|list| list.entries.iter().map(extension).collect());
            entries.deny_extensions = rules.deny.iter().map(|(entry, _)| extension(entry)).collect();
        }
        Ok(entries)
    }

    fn read(&mut self, entry: &str, side: Side, base: &str) -> Result<(), TooLarge> {
        self.named.extend(entry.chars().filter(|c| !c.is_ascii()).flat_map(spellings));
        // A compiled policy holds no entry that cannot be read; where one did, nothing would be proven.
        for pattern in pattern::parse(entry, side, base).map_err(|_| TooLarge)? {
            let expression = rest::expression(&pattern, side);
            match side {
                Side::Allow => self.allow.push(expression),
                Side::Deny => self.deny.push(expression),
                Side::ReadOnly => self.read_only.push(expression),
            }
        }
        Ok(())
    }

    fn keep(&mut self, base: &str) {
        let ends = base.match_indices('/').map(|(at, _)| at.max(1)).chain([base.len()]);
        for end in ends {
            let mut source = String::new();
            rest::literal(&mut source, base.get(..end).unwrap_or_default(), Side::Allow);
            source.push_str(r"\z");
            self.kept.push(source);
        }
    }
}

/// A written name that ends so, dots and spaces at its end left out.
fn extension(extension: &Extension) -> String {
    let mut source = r".*/[^/]*".to_owned();
    rest::literal(&mut source, extension.text(), Side::Deny);
    source.push_str(r"[. ]*\z");
    source
}

/// A character, folded, and in upper case where that is one character.
fn spellings(c: char) -> impl Iterator<Item = char> {
    let mut upper = c.to_uppercase();
    let upper = upper.next().filter(|_| upper.next().is_none());
    [Some(c), Some(fold::character(c)), upper].into_iter().flatten()
}
