//! Patterns sorted by shape, and the one question asked of them: which element matches this path.

use super::classify::{Reach, Shape, classify};
use super::direct::{self, ENDING, NAME, Parts};
use super::keys::{Keys, NONE};
use super::normal;
use super::pattern::{Pattern, Side};
use super::rest::{Rest, RestBuilder};
use crate::resolved::Entries;
use regex_automata::meta::BuildError;

/// The tables of a set of patterns. `FOLD`: the refusing sides, where case is ignored and a match covers all below it.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables<const FOLD: bool> {
    everything: Option<u32>,
    paths: Keys<FOLD>,
    names: Keys<FOLD>,
    prefixes: Keys<FOLD>,
    suffixes: Keys<FOLD>,
    /// Whether any pattern speaks of components.
    components: bool,
    rest: Option<Box<Rest>>,
}

/// Patterns on their way to [`Tables`].
#[derive(Debug)]
pub(super) struct TablesBuilder<const FOLD: bool> {
    set: Tables<FOLD>,
    rest: RestBuilder,
    side: Side,
}

impl<const FOLD: bool> TablesBuilder<FOLD> {
    pub(super) fn new(side: Side) -> Self {
        debug_assert_eq!(side.refuses(), FOLD);
        Self { set: Tables::default(), rest: RestBuilder::default(), side }
    }

    /// Adds a list, all entries of which are direct and compared as they stand; the first has the number `element`.
    /// Nothing of its text is copied.
    pub(super) fn add_list(&mut self, list: &Entries, mut element: u32) {
        let (set, text) = (&mut self.set, list.text());
        set.paths.reserve(list.len());
        let mut start = text.whole().1;
        for entry in list.bytes() {
            match Parts::of(entry, self.side) {
                Parts::Path { path, below } => {
                    let reach = if FOLD { Reach::Both } else { direct::reach(below) };
                    set.paths.add_part(text, start, path, reach, element);
                }
                Parts::Name(name) => set.names.add_part(text, start + NAME, name, Reach::Both, element),
                Parts::Ending(end) => set.suffixes.add_part(text, start + ENDING, end, Reach::Both, element),
            }
            // Texts are bounded far below 4 GiB.
            start = start.saturating_add(u32::try_from(entry.len() + 1).unwrap_or(u32::MAX));
            element = element.saturating_add(1);
        }
    }

    /// Adds a pattern of `element`; elements come in ascending order.
    pub(super) fn add(&mut self, pattern: &Pattern, element: u32) {
        self.add_shape(&classify(pattern, self.side), element);
    }

    pub(super) fn add_shape(&mut self, shape: &Shape<'_>, element: u32) {
        let set = &mut self.set;
        match shape {
            Shape::Everything => set.everything = set.everything.or(Some(element)),
            Shape::Path(path, reach) => set.paths.add(path.as_bytes(), *reach, element),
            Shape::Name(name) => set.names.add(name.as_bytes(), Reach::Both, element),
            Shape::Prefix(begin) => set.prefixes.add(begin.as_bytes(), Reach::Both, element),
            Shape::Suffix(end) => set.suffixes.add(end.as_bytes(), Reach::Both, element),
            Shape::Rest(pieces) => self.rest.add(pieces, self.side, element),
        }
    }

    /// # Errors
    /// The automaton for the patterns of no simple shape grows too large.
    pub(super) fn build(mut self) -> Result<Tables<FOLD>, Box<BuildError>> {
        let rest = std::mem::take(&mut self.rest).build()?;
        let mut set = Tables { rest: rest.map(Box::new), ..self.set };
        for keys in [&mut set.paths, &mut set.names, &mut set.prefixes, &mut set.suffixes] {
            keys.finish();
        }
        set.components = ![&set.names, &set.prefixes, &set.suffixes].iter().all(|keys| keys.is_empty());
        Ok(set)
    }
}

impl<const FOLD: bool> Tables<FOLD> {
    /// The tables of patterns that could not be read: nothing is allowed, and everything refused.
    pub(super) fn closed() -> Self {
        Self { everything: FOLD.then_some(0), ..Self::default() }
    }

    /// The least element that matches `path`. On the refusing sides `path` is folded.
    pub(super) fn find(&self, path: &[u8]) -> Option<u32> {
        let mut least = self.everything.unwrap_or(NONE).min(self.paths.find_path(path));
        if self.components {
            least = least.min(self.find_component(path));
        }
        if let Some(rest) = &self.rest {
            least = least.min(rest.find(path).unwrap_or(NONE));
        }
        (least != NONE).then_some(least)
    }

    /// Whether anything matches `path`: as [`Self::find`], without asking which.
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        self.everything.is_some()
            || self.paths.find_path(path) != NONE
            || (self.components && self.find_component(path) != NONE)
            || self.rest.as_ref().is_some_and(|rest| rest.matches(path))
    }

    fn find_component(&self, path: &[u8]) -> u32 {
        let mut least = NONE;
        let mut start = 1;
        // Every path begins with a slash; the end of the path ends its last component.
        for end in memchr::memchr_iter(b'/', path).skip(1).chain([path.len()]) {
            let name = path.get(start..end).unwrap_or_default();
            least = least.min(self.names.find(name));
            if !self.suffixes.is_empty() {
                least = least.min(self.suffixes.find_ending(name));
            }
            if !self.prefixes.is_empty() {
                least = least.min(self.prefixes.find_beginning(name));
            }
            start = end + 1;
        }
        least
    }

    /// Whether anything below the directory `dir` can match; true where only a look at the tree could tell.
    pub(super) fn may_match_below(&self, dir: &[u8]) -> bool {
        let below = |path: &[u8]| below::<FOLD>(path, dir);
        self.components
            || self.matches(dir)
            || self.paths.iter().any(|(path, ..)| below(path))
            || self.rest.as_ref().is_some_and(|rest| {
                rest.within()
                    .any(|within| within.is_empty() || below(within.as_bytes()) || at_or_above(within, dir))
            })
    }

    /// Whether a single plain entry covers all below the directory `dir`.
    pub(super) fn covers_below(&self, dir: &[u8]) -> bool {
        let covering = |(path, reach, _): (&[u8], Reach, u32)| {
            reach != Reach::Itself && normal::is_at_or_below(dir, path)
        };
        self.everything.is_some() || self.paths.iter().any(covering)
    }

    /// The directories that every match of each pattern lies in or is, but those that lie below another. One may come
    /// twice.
    pub(super) fn roots(&self) -> impl Iterator<Item = &[u8]> {
        let rest = self.rest.iter().flat_map(|rest| rest.within().map(str::as_bytes));
        let rest: Vec<&[u8]> = rest.map(|root| if root.is_empty() { &b"/"[..] } else { root }).collect();
        let paths = self.paths.iter().map(|(path, ..)| path);
        paths.chain(rest.clone()).filter(move |root| {
            let nested = rest.iter().any(|dir| dir != root && normal::is_at_or_below(root, dir));
            !nested && !self.paths.has_above(root)
        })
    }
}

/// Whether `path` lies strictly below `dir`.
fn below<const FOLD: bool>(path: &[u8], dir: &[u8]) -> bool {
    let dir = if dir == b"/" { &b""[..] } else { dir };
    let head = path
        .get(..dir.len())
        .is_some_and(|head| if FOLD { head.eq_ignore_ascii_case(dir) } else { head == dir });
    head && path.get(dir.len()) == Some(&b'/')
}

/// Whether the match directory `within` is `dir` or above it. Case is ignored: too wide is the safe side here.
fn at_or_above(within: &str, dir: &[u8]) -> bool {
    let within = within.as_bytes();
    let head = dir.get(..within.len()).is_some_and(|head| head.eq_ignore_ascii_case(within));
    head && matches!(dir.get(within.len()), None | Some(b'/'))
}
