//! The patterns of one list or several. What is asked of them are tables, which are made at the first question, or when somebody
//! has time.

use super::direct;
use super::pattern::{self, PatternError, Side};
use super::tables::{Tables, TablesBuilder};
use crate::form::FormError;
use crate::resolved::Entries;
use crate::rules::paths::refusal;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// A set of patterns, asked as [`Tables`]. `FOLD`: the refusing sides.
#[derive(Debug, Clone)]
pub(super) struct Patterns<const FOLD: bool> {
    made: OnceLock<Made<FOLD>>,
    source: Source,
}

/// What tables are made of.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// Each with the number of its first entry.
    pub(super) lists: Vec<(u32, Entries)>,
    pub(super) known: Known,
    pub(super) side: Side,
    pub(super) base_dir: Arc<str>,
}

/// What is known of the entries of some lists, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Known {
    /// Nothing: they are yet to be held to what the compiler accepts.
    Nothing,
    /// That it accepts them.
    Accepted,
    /// That all of them are direct and compared as they stand.
    Direct,
}

/// Why there are no tables of some lists.
#[derive(Debug, Clone)]
pub(super) enum Fault {
    /// An entry that is no pattern.
    Entry { number: u32, entry: Box<str>, error: PatternError },
    /// One that the compiler does not accept, and why.
    Refused { number: u32, why: Box<str> },
    /// The text of a list could not be read.
    Unread(FormError),
    /// The automaton for the patterns of no simple shape.
    TooLarge,
}

#[derive(Debug, Clone)]
struct Made<const FOLD: bool> {
    tables: Box<Tables<FOLD>>,
    fault: Option<Box<Fault>>,
}

impl<const FOLD: bool> Patterns<FOLD> {
    pub(super) const fn new(source: Source) -> Self {
        Self { made: OnceLock::new(), source }
    }

    /// The tables, which the first who asks makes. Closed where they cannot be made.
    pub(super) fn tables(&self) -> &Tables<FOLD> {
        &self.made().tables
    }

    /// Makes the tables too.
    ///
    /// # Errors
    /// What is wrong with the lists.
    pub(super) fn sound(&self) -> Result<(), &Fault> {
        self.made().fault.as_deref().map_or(Ok(()), Err)
    }

    fn made(&self) -> &Made<FOLD> {
        self.made.get_or_init(|| match self.source.sort() {
            Ok(tables) => Made { tables: Box::new(tables), fault: None },
            Err(fault) => Made { tables: Box::new(Tables::closed()), fault: Some(Box::new(fault)) },
        })
    }
}

impl<const FOLD: bool> Deref for Patterns<FOLD> {
    type Target = Tables<FOLD>;

    fn deref(&self) -> &Tables<FOLD> {
        self.tables()
    }
}

impl Source {
    fn sort<const FOLD: bool>(&self) -> Result<Tables<FOLD>, Fault> {
        let mut builder = TablesBuilder::new(self.side);
        for (first, list) in &self.lists {
            list.bring().map_err(|error| Fault::Unread(error.clone()))?;
            if self.known == Known::Direct || direct::are_comparable(list, self.side) {
                builder.add_list(list, *first);
            } else {
                self.add_each(&mut builder, list, *first)?;
            }
        }
        builder.build().map_err(|_| Fault::TooLarge)
    }

    fn add_each<const FOLD: bool>(
        &self,
        builder: &mut TablesBuilder<FOLD>,
        list: &Entries,
        first: u32,
    ) -> Result<(), Fault> {
        if self.known == Known::Nothing
            && let Some((element, why)) = refusal(list, self.side)
        {
            return Err(Fault::Refused { number: first.saturating_add(element), why });
        }
        for (entry, number) in list.values().zip(first..) {
            if direct::is_direct(entry, self.side) {
                builder.add_shape(&direct::told(entry, self.side), number);
                continue;
            }
            let fault = |error| Fault::Entry { number, entry: entry.into(), error };
            for pattern in pattern::parse(entry, self.side, &self.base_dir).map_err(fault)? {
                builder.add(&pattern, number);
            }
        }
        Ok(())
    }
}
