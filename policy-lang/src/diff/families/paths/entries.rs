//! The entries of one side as expressions, read again from what the rules say.

use crate::automata::TooLarge;
use crate::diff::view::View;
use crate::endpoint::Key;
use crate::matchers::extension::Extension;
use crate::paths::fold;
use crate::paths::pattern::{self, Pattern, Piece, Side};
use crate::paths::rest;
use crate::resolved::ResolvedValue;
use std::collections::{BTreeMap, BTreeSet};

/// Patterns by their expressions.
pub(super) type Listed = BTreeMap<String, Pattern>;

/// Expressions of each list; absent where the list is.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) allow: Listed,
    pub(super) deny: Listed,
    pub(super) read_only: Listed,
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
                for value in list.values() {
                    entries.read(value, Side::Allow, base)?;
                }
            }
            _ => entries.read(base, Side::Allow, base)?,
        }
        for statement in view.statements(Key::PathsDeny) {
            if let ResolvedValue::List(list) = &statement.value {
                for value in list.values() {
                    entries.read(value, Side::Deny, base)?;
                }
            }
        }
        match view.statements(Key::PathsReadOnly).next().map(|statement| &statement.value) {
            Some(ResolvedValue::Bool(true)) => {
                let all = Pattern { pieces: vec![Piece::Stars], plain: false };
                entries.read_only.insert(r".*\z".to_owned(), all);
            }
            Some(ResolvedValue::List(list)) => {
                for value in list.values() {
                    entries.read(value, Side::ReadOnly, base)?;
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

    /// Whether, by what is written alone, `to` could permit what `key` refuses here. `false` is a proof.
    pub(super) fn may_open(&self, key: Key, to: &Self) -> bool {
        let lacks = |list: &Listed, other: &Listed| !list.keys().all(|entry| other.contains_key(entry));
        let misses = |list: &[String], other: &[String]| !list.iter().all(|entry| other.contains(entry));
        match key {
            Key::PathsAllow => lacks(&to.allow, &self.allow) || misses(&self.kept, &to.kept),
            Key::PathsDeny => lacks(&self.deny, &to.deny),
            Key::PathsReadOnly => lacks(&self.read_only, &to.read_only),
            Key::ParamsAllowExtensions => match (&self.allow_extensions, &to.allow_extensions) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(its), Some(theirs)) => misses(theirs, its),
            },
            Key::ParamsDenyExtensions => misses(&self.deny_extensions, &to.deny_extensions),
            _ => true,
        }
    }

    fn read(&mut self, entry: &str, side: Side, base: &str) -> Result<(), TooLarge> {
        self.named.extend(entry.chars().filter(|c| !c.is_ascii()).flat_map(spellings));
        // A compiled policy holds no entry that cannot be read; where one did, nothing would be proven.
        for pattern in pattern::parse(entry, side, base).map_err(|_| TooLarge)? {
            let expression = rest::expression(&pattern, side);
            let list = match side {
                Side::Allow => &mut self.allow,
                Side::Deny => &mut self.deny,
                Side::ReadOnly => &mut self.read_only,
            };
            list.insert(expression, pattern);
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
