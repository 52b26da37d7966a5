//! The elements of a list value: ranges of one text, so that a list costs its bytes and little more. The lists of a compiled
//! set are ranges of the text that was read, and nothing of it is copied.

use super::FilePlace;
use super::places::{Places, Run};
use crate::paths::pattern::Side;
use std::sync::Arc;

/// What stands between two elements in the text of a list, as in `PATH`. Ends are kept, so an element may hold one too.
pub(crate) const SEPARATOR: char = ':';

/// The elements of an accumulating or a list value, in the order written.
#[derive(Debug, Clone, Default)]
pub struct List {
    text: Part,
    /// The byte of the text that each element ends before.
    ends: Vec<u32>,
    places: Places,
    /// On which side of path rules every element is known to be one whose text tells its shape.
    direct: Option<Side>,
}

/// One element of a [`List`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element<'a> {
    /// The element as written.
    pub value: &'a str,
    /// Where it was written.
    pub at: Option<FilePlace>,
}

/// A part of a text that others have parts of too.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    whole: Arc<String>,
    start: u32,
    length: u32,
}

impl Part {
    /// `part` of `whole`, or else a copy of it. Texts are bounded below 4 GiB before they come here.
    pub(crate) fn of(whole: &Arc<String>, part: &str) -> Self {
        let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr());
        let within = start.filter(|start| {
            let found = whole.get(*start..start + part.len());
            found.is_some_and(|found| std::ptr::eq(found, part))
        });
        match within.map(u32::try_from) {
            Some(Ok(start)) => Self { whole: Arc::clone(whole), start, length: length(part) },
            _ => part.to_owned().into(),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        let start = self.start as usize;
        self.whole.get(start..start + self.length as usize).unwrap_or_default()
    }

    /// The text that this is a part of, and where it begins there.
    pub(crate) fn whole(&self) -> (&Arc<String>, u32) {
        (&self.whole, self.start)
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self { length: length(&text), whole: Arc::new(text), start: 0 }
    }
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
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
        let bytes = text.as_str().as_bytes();
        let mut ends = Vec::with_capacity(bytes.len() / 16 + 1);
        let separators = memchr::memchr_iter(SEPARATOR as u8, bytes);
        ends.extend(separators.chain([bytes.len()]).map(|end| u32::try_from(end).unwrap_or(u32::MAX)));
        ends.shrink_to_fit();
        Self { text, ends, places: Places::default(), direct: None }
    }

    /// All elements in one text, which [`List::split`] takes apart again; `None` where it could not: a list without
    /// elements, or with one that holds the separator.
    pub(crate) fn joined(&self) -> Option<&str> {
        let text = self.text.as_str();
        let separators = memchr::memchr_iter(SEPARATOR as u8, text.as_bytes()).count();
        (separators + 1 == self.ends.len()).then_some(text)
    }

    /// The text of all elements, each but the last with [`SEPARATOR`] behind it.
    pub(crate) fn text(&self) -> &Part {
        &self.text
    }

    /// The runs of places, with how many elements each has.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (Run, u32)> {
        self.places.runs(self.ends.len())
    }

    /// Puts in the next run of places, of `count` elements. Whether they can be counted out.
    pub(crate) fn push_run(&mut self, run: Run, count: u32) -> bool {
        self.places.push_run(run, count, &self.ends)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The element of that number.
    #[must_use]
    pub fn get(&self, element: usize) -> Option<Element<'_>> {
        let end = *self.ends.get(element)? as usize;
        let before = element.checked_sub(1).and_then(|before| self.ends.get(before));
        let start = before.map_or(0, |end| *end as usize + 1);
        let value = self.text.as_str().get(start..end).unwrap_or_default();
        Some(Element { value, at: self.places.get(element, &self.ends) })
    }

    /// The elements.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Element<'_>> + Clone {
        let at = |element| self.places.get(element, &self.ends);
        self.values().enumerate().map(move |(element, value)| Element { value, at: at(element) })
    }

    /// The elements as written, in bytes.
    pub(crate) fn bytes(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let (text, mut start) = (self.text.as_str().as_bytes(), 0);
        self.ends.iter().map(move |end| {
            let end = *end as usize;
            text.get(std::mem::replace(&mut start, end + 1)..end).unwrap_or_default()
        })
    }

    /// Remembers what was found of every element, so that it need not be looked for twice.
    pub(crate) const fn set_direct(&mut self, side: Side) {
        self.direct = Some(side);
    }

    pub(crate) const fn known_direct(&self) -> Option<Side> {
        self.direct
    }

    /// The elements as written.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        let (text, mut start) = (self.text.as_str(), 0);
        self.ends.iter().map(move |end| {
            let end = *end as usize;
            text.get(std::mem::replace(&mut start, end + 1)..end).unwrap_or_default()
        })
    }
}

impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        (self.text.as_str(), &self.ends, &self.places) == (other.text.as_str(), &other.ends, &other.places)
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
        List { text: self.text.into(), ends: self.ends, places: self.places, direct: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
                let whole = Arc::new(format!("<{text}>"));
                let split = List::split(Part::of(&whole, whole.trim_matches(['<', '>'])));
                prop_assert_eq!(split.values().collect::<Vec<_>>(), values);
            }
        }
    }

    #[test]
    fn a_part_is_not_copied() {
        let whole = Arc::new("a text".to_owned());
        let part = Part::of(&whole, whole.get(2..).unwrap());
        assert_eq!((part.as_str(), Arc::strong_count(&whole)), ("text", 2));
        assert_eq!(Part::of(&whole, "text").as_str(), "text");
        assert_eq!(Arc::strong_count(&whole), 2, "what is no part of it is a text of its own");
    }

    #[test]
    fn lists_are_the_same_where_their_elements_are() {
        assert_eq!(List::of(["a", "b"]), List::of(["a".to_owned(), "b".to_owned()]));
        assert_ne!(List::of(["a:b"]), List::of(["a", "b"]));
        assert_ne!(List::of([""; 0]), List::of([""]));
    }
}
