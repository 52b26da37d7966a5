//! The lists of paths at the end of a compiled set, one a line. The rules count them, so that it is known where each of them
//! is to be found before anybody has read it.

use super::FormError;
use super::head::Again;
use super::read::{bad, claim, shapeless, verify};
use super::shape::{Counted, Rule, Value};
use crate::resolved::{count, start};

/// What the lists begin with. No line of a set begins in this way but theirs: a break of line is escaped within a text.
pub(super) const PATHS: &str = "\n\"paths\":[";

/// What a set ends with, behind its last list.
pub(super) const END: &str = "]}\n";

/// From the end of a text to the begin of the next.
const BETWEEN: u64 = "\",\n\"".len() as u64;

/// The lists that the rules count.
#[derive(Debug)]
pub(super) struct Counts {
    lists: Vec<List>,
    /// The byte of the set that the lists begin with,
    first: u32,
    /// and how many the set has.
    length: u32,
}

#[derive(Debug)]
struct List {
    start: u32,
    bytes: u32,
    entries: u32,
}

impl Counts {
    /// Counts the lists of the rules, and tells each where it begins. `first`: the byte that the lists begin with, of so many.
    pub(super) fn of(rules: &mut [Rule<'_>], first: u32, length: u32) -> Result<Self, FormError> {
        let mut next = u64::from(first) + "\n\"".len() as u64;
        let mut lists = Vec::new();
        for counted in
            rules.iter_mut().flat_map(|rule| &mut rule.says.0).filter_map(|says| says.value.count())
        {
            let Counted { entries, bytes, .. } = *counted;
            if entries == 0 || entries - 1 > bytes {
                return Err(unlike());
            }
            counted.start = u32::try_from(next).map_err(|_| unlike())?;
            lists.push(List { start: counted.start, bytes, entries });
            next += u64::from(bytes) + BETWEEN;
        }
        // Between the last text and the end stands as much as between two texts.
        let end = if lists.is_empty() { u64::from(first) + END.len() as u64 } else { next };
        if end == u64::from(length) { Ok(Self { lists, first, length }) } else { Err(unlike()) }
    }

    /// That the lists of a set, as its text holds them, are those that were counted.
    pub(super) fn hold(&self, text: &str, paths: &[&str]) -> Result<(), FormError> {
        let is = |(list, found): (&List, &&str)| {
            start(text, found) == Some(list.start)
                && u32::try_from(found.len()) == Ok(list.bytes)
                && count(found) == list.entries
        };
        let all =
            text.ends_with(END) && paths.len() == self.lists.len() && self.lists.iter().zip(paths).all(is);
        if all { Ok(()) } else { Err(unlike()) }
    }

    /// Reads the set whole, of which the head is known that claims `checksum`.
    pub(super) fn arrive(&self, checksum: &str, again: Again) -> Result<String, FormError> {
        let text = again.read().map_err(FormError::Again)?;
        if u32::try_from(text.len()) != Ok(self.length) || claim(&text)?.0 != checksum {
            return Err(FormError::Again("it has been changed meanwhile".to_owned()));
        }
        verify(&text)?;
        let (first, end) = (self.first as usize, text.len().saturating_sub(END.len()));
        let brackets = text.get(first.saturating_sub(1)..=end);
        let paths: Vec<&str> =
            serde_json::from_str(brackets.ok_or_else(unlike)?).map_err(|error| shapeless(&error))?;
        self.hold(&text, &paths)?;
        Ok(text)
    }
}

impl<'a> Value<'a> {
    /// A list of paths whose text is to stand behind all else.
    pub(super) fn counted(text: &'a str, entries: usize) -> Self {
        let number = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Self::Counted(Counted { entries: number(entries), bytes: number(text.len()), text, start: 0 })
    }

    /// The text that is to stand there.
    pub(super) const fn text(&self) -> Option<&'a str> {
        match self {
            Self::Counted(counted) => Some(counted.text),
            _ => None,
        }
    }

    const fn count(&mut self) -> Option<&mut Counted<'a>> {
        match self {
            Self::Counted(counted) => Some(counted),
            _ => None,
        }
    }
}

fn unlike() -> FormError {
    bad("paths", "the lists are not those that the rules count")
}
