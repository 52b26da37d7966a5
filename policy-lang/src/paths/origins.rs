//! Which element of which statement each entry of a set of patterns is: the lists that the set is made of, one after the
//! other, and not a place for each of their elements.

use crate::policy::ElementRef;

/// The number of the first entry of each list, and where the list came from.
#[derive(Debug, Clone, Default)]
pub(super) struct Origins(Vec<(u32, ElementRef)>);

impl Origins {
    /// Adds a list whose first entry has the number `first`.
    pub(super) fn add(&mut self, first: u32, origin: ElementRef) {
        self.0.push((first, origin));
    }

    /// Where the entry of that number came from.
    pub(super) fn get(&self, entry: u32) -> ElementRef {
        let lists = self.0.partition_point(|(first, _)| *first <= entry);
        let list = lists.checked_sub(1).and_then(|at| self.0.get(at));
        list.map_or(ElementRef::BASE, |(first, origin)| ElementRef { element: entry - first, ..*origin })
    }
}
