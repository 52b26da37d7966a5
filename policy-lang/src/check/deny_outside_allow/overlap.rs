//! Whether a denied entry and an allow-list have a path in common, by automata over the paths there are.
//!
//! Most entries meet a directory that is allowed as a whole, which a look at the text tells. The rest is worth an
//! automaton only while it is little: beyond that nothing is said.

use crate::automata::{Alive, Grammar, Machines, Product, Tape, TooLarge};
use crate::endpoint::Key;
use crate::explain::absolute;
use crate::paths::pattern::{self, Pattern, Piece, Side, is_glob};
use crate::paths::rest;
use crate::paths::rules::is_never;
use std::collections::BTreeSet;

/// The most entries of an allow-list that are looked at.
const MOST_ENTRIES: usize = 32;
/// The most automata that are walked for one document: each takes longer than all other checks of a page.
const MOST_LOOKS: usize = 16;

/// One allow-list.
#[derive(Debug)]
pub(super) struct Allowed<'a> {
    entries: Vec<&'a str>,
    /// Directories that are allowed as a whole, in lower case, for denials ignore it.
    trees: BTreeSet<String>,
}

/// What was looked at for a document.
#[derive(Debug, Default)]
pub(super) struct Looks {
    machines: Machines,
    count: usize,
}

impl<'a> Allowed<'a> {
    pub(super) fn new(entries: Vec<&'a str>, base_dir: &str) -> Self {
        let looked_at: &[&str] = if entries.len() > MOST_ENTRIES { &[] } else { &entries };
        let trees = looked_at.iter().filter_map(|entry| {
            let directory = entry.strip_suffix("/**").unwrap_or(entry);
            let directory = (!is_glob(directory)).then_some(directory)?;
            let absolute = absolute(Key::PathsAllow, directory, base_dir);
            (!is_never(absolute.as_bytes())).then(|| absolute.trim_end_matches('/').to_lowercase())
        });
        Self { trees: trees.collect(), entries }
    }

    /// Whether a look at the text tells that a denied pattern meets something.
    fn surely_meets(&self, pattern: &Pattern) -> bool {
        match pattern.pieces.as_slice() {
            // At any depth, so also in that directory.
            [Piece::Stars, Piece::Text(text), ..] if text.starts_with('/') => !self.trees.is_empty(),
            [Piece::Text(text), rest @ ..] => {
                let fixed =
                    if rest.is_empty() { text } else { text.rsplit_once('/').map_or("", |(dir, _)| dir) };
                let fixed = fixed.to_lowercase();
                let within = fixed.match_indices('/').map(|(at, _)| at).chain([fixed.len()]);
                let covers =
                    |tree: &String| tree.strip_prefix(&fixed).is_some_and(|rest| rest.starts_with('/'));
                within.filter_map(|end| fixed.get(..end)).any(|dir| self.trees.contains(dir))
                    // A plain entry denies all below it.
                    || (rest.is_empty() && self.trees.iter().any(covers))
            }
            _ => false,
        }
    }
}

impl Looks {
    /// Whether the entry surely has no path in common with any of the lists.
    pub(super) fn apart(&mut self, lists: &[Allowed<'_>], deny: &str, base_dir: &str) -> bool {
        if lists.iter().any(|list| list.entries.len() > MOST_ENTRIES) {
            return false;
        }
        let Ok(patterns) = pattern::parse(deny, Side::Deny, base_dir) else { return false };
        let meets = |list: &Allowed<'_>| patterns.iter().any(|pattern| list.surely_meets(pattern));
        if lists.iter().any(meets) {
            return false;
        }
        let denied: Vec<String> =
            patterns.iter().map(|pattern| rest::expression(pattern, Side::Deny)).collect();
        lists.iter().all(|list| self.disjoint(list, &denied, base_dir) == Ok(true))
    }

    fn disjoint(&mut self, list: &Allowed<'_>, denied: &[String], base_dir: &str) -> Result<bool, TooLarge> {
        self.count += 1;
        if self.count > MOST_LOOKS {
            return Err(TooLarge);
        }
        let mut allowed = Vec::new();
        for entry in &list.entries {
            let patterns = pattern::parse(entry, Side::Allow, base_dir).map_err(|_| TooLarge)?;
            allowed.extend(patterns.iter().map(|pattern| rest::expression(pattern, Side::Allow)));
        }
        let mut product = Product::new(Grammar::Path);
        let allow = product.add(Tape::Raw, self.machines.list(allowed, false)?);
        let deny = product.add(Tape::Folded, self.machines.list(denied.to_vec(), true)?);
        let alive = Alive { accepting: vec![allow], refusing: Vec::new() };
        product.bound([alive.clone(), alive]);
        product.none(|accepted| accepted.by(allow) && accepted.by(deny))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Most documents allow whole directories: no automaton is made for them.
    #[test]
    fn directories_that_are_allowed_as_a_whole_need_no_look() {
        for allow in ["/home/user/**", "/home/user", "docs/**", "docs", "."] {
            let mut looks = Looks::default();
            let lists = [Allowed::new(vec![allow], "/home/user")];
            for deny in ["**/private/**", "**/*.key", "*.pem", "secret.txt", "/home/user/docs/a*", "/home"] {
                assert!(!looks.apart(&lists, deny, "/home/user"), "{allow} {deny}");
            }
            assert_eq!(looks.count, 0, "{allow}");
        }
        let mut looks = Looks::default();
        assert!(looks.apart(&[Allowed::new(vec!["/srv/*.txt"], "/home/user")], "/srv/a/**", "/home/user"));
        assert_eq!(looks.count, 1);
    }
}
