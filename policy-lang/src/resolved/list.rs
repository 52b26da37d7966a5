//! The elements of a list value: ranges of one text, so that a list costs its bytes and little more. The lists of a compiled
//! set are ranges of the text that was read, and nothing of it is copied.

use super::FilePlace;
use super::entries::{Entries, Part, SEPARATOR, length};
use super::places::{Places, Run};

/// The elements of an accumulating or a list value, in the order written.
#[derive(Debug, Clone, Default)]
pub struct List {
    entries: Entries,
    places: Places,
    /// Whether nobody has held the elements to what the compiler accepts yet.
    unread: bool,
}

/// One element of a [`List`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element<'a> {
    /// The element as written.
    pub value: &'a str,
    /// Where it was written.
    pub at: Option<FilePlace>,
}

impl List {
    /// A list of values that were written nowhere.
    pub fn of(values: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut list = ListBuilder::default();
        values.into_iter().for_each(|value| list.push(value.as_ref(), None));
        list.finish()
    }

    /// The list that [`List::joined`] is the text of. Its places are to be put in.
    pub(crate) fn split(text: Part) -> Self {
        Self { entries: Entries::split(text), places: Places::default(), unread: false }
    }

    /// The same of a text that is known to have so many elements, and need not be here yet.
    pub(crate) fn counted(text: Part, count: u32) -> Self {
        Self { entries: Entries::counted(text, count), places: Places::default(), unread: false }
    }

    /// All elements in one text, which [`List::split`] takes apart again; `None` where it could not: a list without
    /// elements, or with one that holds the separator.
    pub(crate) fn joined(&self) -> Option<&str> {
        self.entries.are_split().then(|| self.entries.text().as_str())
    }

    /// The elements without their places; whoever holds them shares them with the list.
    pub(crate) const fn entries(&self) -> &Entries {
        &self.entries
    }

    /// The runs of places, with how many elements each has.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (Run, u32)> {
        self.places.runs(self.len())
    }

    /// Puts in the next run of places, of `count` elements. Whether they can be counted out.
    pub(crate) fn push_run(&mut self, run: Run, count: u32) -> bool {
        self.places.push_run(run, count, self.entries.text().len())
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element of that number.
    #[must_use]
    pub fn get(&self, element: usize) -> Option<Element<'_>> {
        let value = self.entries.get(element)?;
        Some(Element { value, at: self.places.get(element, self.entries.ends()) })
    }

    /// The elements.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Element<'_>> + Clone {
        let at = |element| self.places.get(element, self.entries.ends());
        self.values().enumerate().map(move |(element, value)| Element { value, at: at(element) })
    }

    /// Says that nobody has held the elements to what the compiler accepts.
    pub(crate) const fn set_unread(&mut self) {
        self.unread = true;
    }

    pub(crate) const fn is_unread(&self) -> bool {
        self.unread
    }

    /// The elements as written.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.entries.values()
    }
}

impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        (&self.entries, &self.places) == (&other.entries, &other.places)
    }
}

impl Eq for List {}

impl<'a> FromIterator<Element<'a>> for List {
    fn from_iter<T: IntoIterator<Item = Element<'a>>>(elements: T) -> Self {
        let mut list = ListBuilder::default();
        elements.into_iter().for_each(|element| list.push(element.value, element.at));
        list.finish()
    }
}

/// A list on its way.
#[derive(Debug, Default)]
pub(crate) struct ListBuilder {
    text: String,
    ends: Vec<u32>,
    places: Places,
}

impl ListBuilder {
    /// With room for so many elements, of so many bytes together.
    pub(crate) fn with_room(elements: usize, bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes + elements.saturating_sub(1)),
            ends: Vec::with_capacity(elements),
            places: Places::default(),
        }
    }

    /// Adds an element.
    pub(crate) fn push(&mut self, value: &str, at: Option<FilePlace>) {
        self.push_value(value);
        self.places.push(at, &self.ends);
    }

    /// Adds an element whose place is to be put in when the list is whole.
    pub(crate) fn push_value(&mut self, value: &str) {
        if !self.ends.is_empty() {
            self.text.push(SEPARATOR);
        }
        self.text.push_str(value);
        self.ends.push(length(&self.text));
    }

    pub(crate) fn finish(self) -> List {
        List { entries: Entries::new(self.text, self.ends), places: self.places, unread: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolved::Text;
    use proptest::prelude::*;
    use std::sync::Arc;

    proptest! {
        #[test]
        fn a_list_holds_what_it_was_given(values in proptest::collection::vec("[a:é]{0,3}", 0..5)) {
            let list = List::of(&values);
            prop_assert_eq!(list.values().collect::<Vec<_>>(), values.iter().collect::<Vec<_>>());
            prop_assert_eq!(list.iter().map(|one| one.value).collect::<Vec<_>>(), values.iter().collect::<Vec<_>>());
            for (element, value) in values.iter().enumerate() {
                prop_assert_eq!(list.get(element), Some(Element { value, at: None }));
            }
            prop_assert_eq!((list.len(), list.get(values.len())), (values.len(), None));
            let plain = !values.is_empty() && !values.iter().any(|value| value.contains(SEPARATOR));
            prop_assert_eq!(list.joined().is_some(), plain);
            if let Some(text) = list.joined() {
                let whole = Arc::new(Text::from(format!("<{text}>")));
                let split = List::split(Part::of(&whole, whole.as_str().trim_matches(['<', '>'])));
                prop_assert_eq!(split.values().collect::<Vec<_>>(), values);
            }
        }
    }

    #[test]
    fn lists_are_the_same_where_their_elements_are() {
        assert_eq!(List::of(["a", "b"]), List::of(["a".to_owned(), "b".to_owned()]));
        assert_ne!(List::of(["a:b"]), List::of(["a", "b"]));
        assert_ne!(List::of([""; 0]), List::of([""]));
    }
}
