//! Paths that the changed entries themselves suggest. Most changes show on one of them, so that no automaton is made for
//! them; what does not is left to the search.
//!
//! Nothing is concluded from a guess that fails.

use super::entries::{Entries, Listed};
use crate::decide::Op;
use crate::diff::view::{Opening, View};
use crate::diff::witness::Witness;
use crate::endpoint::Key;
use crate::paths::PathVerdict;
use crate::paths::normal::is_normal;
use crate::paths::pattern::{Class, Pattern, Piece};
use crate::policy::ElementRef;

/// The most entries that are tried, the shortest first.
const MOST_ENTRIES: usize = 32;
/// The most directories that an entry which speaks of any depth is tried in.
const MOST_DIRECTORIES: usize = 8;

/// A call that shows that `to` permits what `key` refuses in `from`.
pub(super) fn guess(
    key: Key,
    (from, its): (&View<'_>, &Entries),
    (to, theirs): (&View<'_>, &Entries),
    ops: &[Op],
) -> Option<Opening> {
    let changed = match key {
        Key::PathsAllow => only_in(&theirs.allow, &its.allow),
        Key::PathsDeny => only_in(&its.deny, &theirs.deny),
        Key::PathsReadOnly => only_in(&its.read_only, &theirs.read_only),
        _ => return None,
    };
    let directories = directories(theirs);
    let paths = changed.iter().take(MOST_ENTRIES).flat_map(|(_, pattern)| {
        let rooted = !matches!(pattern.pieces.first(), Some(Piece::Stars));
        let tried = if rooted { directories.get(..1).unwrap_or_default() } else { &*directories };
        tried.iter().map(|directory| filled(pattern, directory))
    });
    for path in paths.filter(|path| is_normal(path.as_bytes())) {
        for op in ops.iter().filter(|op| refuses(from, key, path.as_bytes(), **op)) {
            let witness = Witness { path: Some((path.clone().into_bytes(), *op)), ..to.call() };
            if let Some(opening) = Opening::shown(key, witness, from, to) {
                return Some(opening);
            }
        }
    }
    None
}

/// Whether it is this key that refuses the path.
fn refuses(view: &View<'_>, key: Key, path: &[u8], op: Op) -> bool {
    let verdict = view.rules.paths.as_ref().map(|rules| rules.judge(path, op));
    match verdict {
        Some(PathVerdict::NotAllowed(_) | PathVerdict::ReadOnly(ElementRef::BASE)) => key == Key::PathsAllow,
        Some(PathVerdict::Denied(_)) => key == Key::PathsDeny,
        Some(PathVerdict::ReadOnly(_)) => key == Key::PathsReadOnly,
        Some(PathVerdict::Allowed) | None => false,
    }
}

/// The entries of one list that the other lacks, shortest first.
pub(super) fn only_in<'a>(list: &'a Listed, other: &Listed) -> Vec<(&'a String, &'a Pattern)> {
    let mut only: Vec<_> = list.iter().filter(|(expression, _)| !other.contains_key(*expression)).collect();
    only.sort_by_key(|(expression, _)| expression.len());
    only
}

/// Directories that are allowed as a whole, or look so; at least one.
fn directories(entries: &Entries) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for pattern in entries.allow.values() {
        match pattern.pieces.as_slice() {
            [Piece::Text(text)] => found.push(text.clone()),
            [Piece::Text(_), .., Piece::Stars] => {
                let pieces = pattern.pieces.iter().take(pattern.pieces.len() - 1).cloned().collect();
                let above = filled(&Pattern { pieces, plain: false }, "");
                found.push(above.trim_end_matches('/').to_owned());
            }
            _ => {}
        }
    }
    found.sort_by(|one, other| one.len().cmp(&other.len()).then_with(|| one.cmp(other)));
    found.truncate(MOST_DIRECTORIES);
    if found.is_empty() {
        found.push(String::new());
    }
    found
}

/// A text of the pattern: each thing that stands for some text filled with a letter, stars at its beginning with
/// `directory`.
pub(super) fn filled(pattern: &Pattern, directory: &str) -> String {
    let mut text = String::new();
    for (at, piece) in pattern.pieces.iter().enumerate() {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Stars if at == 0 => text.push_str(directory),
            Piece::One | Piece::Star | Piece::Stars => text.push('a'),
            Piece::Class(class) => text.push(member(class)),
        }
    }
    // Nothing but stars stands for anything, also for what is in the directory.
    if matches!(pattern.pieces.as_slice(), [Piece::Stars]) {
        text.push_str("/a");
    }
    text
}

/// A character of the class, as far as one is easily found.
fn member(class: &Class) -> char {
    let named = |c: char| class.ranges.iter().any(|(low, high)| (*low..=*high).contains(&c));
    if class.negated {
        return ('a'..='z').chain('0'..='9').find(|c| !named(*c)).unwrap_or('~');
    }
    class.ranges.first().map_or('a', |(low, _)| *low)
}
