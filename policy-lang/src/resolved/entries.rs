//! The text of a list and where its elements end: what a list is without the places of its elements. It is shared, so that
//! tables made of a list later hold no copy of it.

use super::text::Text;
use crate::form::FormError;
use crate::paths::pattern::Side;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// What stands between two elements in the text of a list, as in `PATH`. Ends are kept, so an element may hold one too.
pub(crate) const SEPARATOR: char = ':';

/// The elements of a list.
#[derive(Debug, Clone)]
pub(crate) struct Entries {
    text: Part,
    count: u32,
    found: Arc<Found>,
}

/// What was found out about a text, for all who share it.
#[derive(Debug, Default)]
struct Found {
    /// The byte of the text that each element ends before. Those of a text that its separators take apart are looked for
    /// when somebody asks for the first.
    ends: OnceLock<Box<[u32]>>,
    /// The side of path rules on which the text of every element tells its shape.
    direct: OnceLock<Side>,
}

/// A part of a text that others have parts of too.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    whole: Arc<Text>,
    start: u32,
    length: u32,
}

impl Part {
    /// `part` of `whole`, or else a copy of it. Texts are bounded below 4 GiB before they come here.
    pub(crate) fn of(whole: &Arc<Text>, part: &str) -> Self {
        match start(whole.here(), part) {
            Some(start) => Self::at(whole, start, length(part)),
            None => part.to_owned().into(),
        }
    }

    /// The part of `whole` that begins at the byte `start`; `whole` need not be here yet.
    pub(crate) fn at(whole: &Arc<Text>, start: u32, length: u32) -> Self {
        Self { whole: Arc::clone(whole), start, length }
    }

    pub(crate) fn as_str(&self) -> &str {
        let start = self.start as usize;
        self.whole.as_str().get(start..start + self.length as usize).unwrap_or_default()
    }

    /// Its length in bytes.
    pub(super) const fn len(&self) -> u32 {
        self.length
    }

    /// The text that this is a part of, and where it begins there.
    pub(crate) const fn whole(&self) -> (&Arc<Text>, u32) {
        (&self.whole, self.start)
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self { length: length(&text), whole: Arc::new(text.into()), start: 0 }
    }
}

/// The byte of `whole` that `part` of it begins with.
pub(crate) fn start(whole: &str, part: &str) -> Option<u32> {
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let found = whole.get(start..start.checked_add(part.len())?)?;
    u32::try_from(start).ok().filter(|_| std::ptr::eq(found, part))
}

pub(super) fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

impl Entries {
    /// Elements of `text`, each but the last with [`SEPARATOR`] behind it.
    pub(super) fn new(text: String, ends: Vec<u32>) -> Self {
        let count = u32::try_from(ends.len()).unwrap_or(u32::MAX);
        let found = Found { ends: OnceLock::from(ends.into_boxed_slice()), direct: OnceLock::new() };
        Self { text: text.into(), count, found: Arc::new(found) }
    }

    /// Those that the separators of a text tell.
    pub(super) fn split(text: Part) -> Self {
        let count = count(text.as_str());
        Self::counted(text, count)
    }

    /// The same of a text that is known to have so many.
    pub(super) fn counted(text: Part, count: u32) -> Self {
        Self { text, count, found: Arc::default() }
    }

    /// That the text is here.
    ///
    /// # Errors
    /// Why it could not be brought.
    pub(crate) fn bring(&self) -> Result<(), &FormError> {
        self.text.whole.get().map(|_| ())
    }

    /// How many there are.
    pub(crate) const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether the separators of the text are all that take it apart: no element holds one.
    pub(crate) fn are_split(&self) -> bool {
        // Whoever split them found nothing but separators.
        self.found.ends.get().is_none() || (self.count > 0 && count(self.text.as_str()) == self.count)
    }

    /// Whether every element is direct on a side of path rules, which `look` tells where nobody has found it yet.
    pub(crate) fn are_direct(&self, side: Side, look: impl FnOnce() -> bool) -> bool {
        if self.found.direct.get() == Some(&side) {
            return true;
        }
        let direct = look();
        if direct {
            // The lists of a key are asked on one side only; of two the first is remembered.
            let _ = self.found.direct.set(side);
        }
        direct
    }

    /// The text of all elements, each but the last with [`SEPARATOR`] behind it.
    pub(crate) const fn text(&self) -> &Part {
        &self.text
    }

    /// The byte of the text that each element ends before.
    pub(crate) fn ends(&self) -> &[u32] {
        self.found.ends.get_or_init(|| {
            let text = self.text.as_str();
            // How many there are is only claimed of a text that could not be brought.
            let mut ends = Vec::with_capacity(self.len().min(text.len() + 1));
            each_separator(text.as_bytes(), |at| ends.push(at));
            ends.push(self.text.length);
            ends.into()
        })
    }

    /// The element of that number.
    pub(super) fn get(&self, element: usize) -> Option<&str> {
        let end = *self.ends().get(element)? as usize;
        let before = element.checked_sub(1).and_then(|before| self.ends().get(before));
        let start = before.map_or(0, |end| *end as usize + 1);
        self.text.as_str().get(start..end)
    }

    /// Where each element stands in the text.
    pub(super) fn ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> + Clone {
        let mut start = 0;
        self.ends().iter().map(move |end| {
            let end = *end as usize;
            std::mem::replace(&mut start, end + 1)..end
        })
    }

    /// The elements.
    pub(crate) fn values(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        let text = self.text.as_str();
        self.ranges().map(move |range| text.get(range).unwrap_or_default())
    }

    /// The elements, in bytes.
    pub(crate) fn bytes(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let text = self.text.as_str().as_bytes();
        self.ranges().map(move |range| text.get(range).unwrap_or_default())
    }
}

/// How many elements the separators of a text tell.
pub(crate) fn count(text: &str) -> u32 {
    let separators = memchr::memchr_iter(SEPARATOR as u8, text.as_bytes()).count();
    u32::try_from(separators).unwrap_or(u32::MAX).saturating_add(1)
}

/// Finds separators by words of eight bytes: they stand so close that a search which begins anew behind each takes thrice as long.
pub(crate) fn each_separator(bytes: &[u8], mut found: impl FnMut(u32)) {
    const ONES: u64 = u64::MAX / 255;
    const LOW: u64 = ONES * 0x7f;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut start = 0;
    for word in words {
        // A byte is zero where the separator was, and only there the sum leaves its highest bit unset.
        let differs = u64::from_le_bytes(*word) ^ (ONES * SEPARATOR as u64);
        let mut here = !(((differs & LOW) + LOW) | differs | LOW);
        while here != 0 {
            found(start + here.trailing_zeros() / 8);
            here &= here - 1;
        }
        start += 8;
    }
    for (at, byte) in (start..).zip(rest) {
        if *byte == SEPARATOR as u8 {
            found(at);
        }
    }
}

impl Default for Entries {
    fn default() -> Self {
        Self::new(String::new(), Vec::new())
    }
}

impl PartialEq for Entries {
    fn eq(&self, other: &Self) -> bool {
        (self.text.as_str(), self.ends()) == (other.text.as_str(), other.ends())
    }
}

impl Eq for Entries {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn separators_are_found_where_they_are(bytes in prop::collection::vec(prop::sample::select(vec![b':', b';', 0, 0x80, 0xba, 0xff]), 0..40)) {
            let mut found = Vec::new();
            each_separator(&bytes, |at| found.push(at));
            let there: Vec<u32> = (0..).zip(&bytes).filter(|(_, byte)| **byte == b':').map(|(at, _)| at).collect();
            prop_assert_eq!(found, there);
        }
    }

    #[test]
    fn a_part_is_not_copied() {
        let whole = Arc::new(Text::from("a text".to_owned()));
        let part = Part::of(&whole, whole.as_str().get(2..).unwrap());
        assert_eq!((part.as_str(), Arc::strong_count(&whole)), ("text", 2));
        assert_eq!(Part::of(&whole, "text").as_str(), "text");
        assert_eq!(Arc::strong_count(&whole), 2, "what is no part of it is a text of its own");
    }
}
