//! The patterns of one list or several. Most lists hold nothing but entries whose text tells their shape: nothing can be
//! wrong with those any more, so their tables are made at the first question, or when somebody has time.

use super::classify::Shape;
use super::pattern::{Pattern, Side};
use super::tables::{Tables, TablesBuilder};
use crate::resolved::Entries;
use regex_automata::meta::BuildError;
use std::ops::Deref;
use std::sync::OnceLock;

/// A set of patterns, asked as [`Tables`]. `FOLD`: the refusing sides.
#[derive(Debug, Clone)]
pub(super) struct Patterns<const FOLD: bool> {
    tables: OnceLock<Box<Tables<FOLD>>>,
    /// What tables are yet to be made of: lists, all entries of which are direct, each with the number of its first.
    lists: Vec<(u32, Entries)>,
    side: Side,
}

impl<const FOLD: bool> Patterns<FOLD> {
    /// The tables, which the first who asks makes.
    pub(super) fn tables(&self) -> &Tables<FOLD> {
        self.tables.get_or_init(|| Box::new(builder(&self.lists, self.side).build_direct()))
    }
}

impl<const FOLD: bool> Deref for Patterns<FOLD> {
    type Target = Tables<FOLD>;

    fn deref(&self) -> &Tables<FOLD> {
        self.tables()
    }
}

/// Patterns on their way to a [`Patterns`].
#[derive(Debug)]
pub(super) struct PatternsBuilder<const FOLD: bool> {
    lists: Vec<(u32, Entries)>,
    /// Made as soon as a pattern comes that is not direct: whether it fits into an automaton must be known at the end.
    tables: Option<Box<TablesBuilder<FOLD>>>,
    side: Side,
}

impl<const FOLD: bool> PatternsBuilder<FOLD> {
    pub(super) const fn new(side: Side) -> Self {
        Self { lists: Vec::new(), tables: None, side }
    }

    /// Adds a list, all entries of which are direct and compared as they stand; the first has the number `element`.
    /// Nothing of it is copied.
    pub(super) fn add_list(&mut self, list: &Entries, element: u32) {
        match &mut self.tables {
            Some(tables) => tables.add_list(list, element),
            None => {
                if self.lists.is_empty() {
                    // Most have no second one, and room for four would be set aside.
                    self.lists.reserve_exact(1);
                }
                self.lists.push((element, list.clone()));
            }
        }
    }

    /// Adds a pattern of `element`; elements come in ascending order.
    pub(super) fn add(&mut self, pattern: &Pattern, element: u32) {
        self.tables().add(pattern, element);
    }

    pub(super) fn add_shape(&mut self, shape: &Shape<'_>, element: u32) {
        self.tables().add_shape(shape, element);
    }

    fn tables(&mut self) -> &mut TablesBuilder<FOLD> {
        let (lists, side) = (&mut self.lists, self.side);
        self.tables.get_or_insert_with(|| Box::new(builder(&std::mem::take(lists), side)))
    }

    /// # Errors
    /// The automaton for the patterns of no simple shape grows too large.
    pub(super) fn build(self) -> Result<Patterns<FOLD>, Box<BuildError>> {
        let tables = match self.tables {
            Some(tables) => OnceLock::from(Box::new(tables.build()?)),
            None => OnceLock::new(),
        };
        Ok(Patterns { tables, lists: self.lists, side: self.side })
    }
}

fn builder<const FOLD: bool>(lists: &[(u32, Entries)], side: Side) -> TablesBuilder<FOLD> {
    let mut builder = TablesBuilder::new(side);
    lists.iter().for_each(|(element, list)| builder.add_list(list, *element));
    builder
}
