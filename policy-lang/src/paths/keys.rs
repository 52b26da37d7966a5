//! A set of byte strings looked up by equality: a line of them while they are few, a hash table beyond that.

pub(crate) use super::classify::Reach;
use crate::resolved::{Part, Text};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::sync::Arc;

/// Up to so many keys are compared one after the other.
const FEW: usize = 48;

/// The answer of a lookup that finds nothing; greater than every element.
pub(crate) const NONE: u32 = u32::MAX;

/// Keys with the element that each came from. `FOLD`: ASCII case is ignored, and keys are given in lower case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys<const FOLD: bool> {
    /// Texts that keys are parts of.
    texts: Vec<Arc<Text>>,
    /// Keys that are no part of any.
    own: Vec<u8>,
    entries: Vec<Held>,
    table: Option<HashTable<u32>>,
    /// Lengths that occur, ascending.
    lengths: Vec<u32>,
    /// Bit n: a key of n bytes occurs; the last bit stands for all greater lengths.
    short: u64,
    /// First and last bytes that occur.
    firsts: Bytes,
    lasts: Bytes,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    start: u32,
    length: u32,
    element: u32,
    /// Which of the texts; [`OWN`] for none.
    text: u16,
    reach: Reach,
}

const OWN: u16 = u16::MAX;

impl<const FOLD: bool> Keys<FOLD> {
    /// Makes room for so many more keys.
    pub(crate) fn reserve(&mut self, keys: usize) {
        self.entries.reserve_exact(keys);
    }

    /// Adds a key. Elements come in ascending order, so that the first entry of a key has the least.
    pub(crate) fn add(&mut self, key: &[u8], reach: Reach, element: u32) {
        let Ok(start) = u32::try_from(self.own.len()) else {
            // Texts are bounded far below 4 GiB before they come here.
            return;
        };
        self.own.extend_from_slice(key);
        self.enter(OWN, start, key, reach, element);
    }

    /// The same of a key that stands in the text of a list, from byte `start` on.
    pub(crate) fn add_part(&mut self, text: &Part, start: u32, key: &[u8], reach: Reach, element: u32) {
        let (whole, _) = text.whole();
        if !self.texts.last().is_some_and(|last| Arc::ptr_eq(last, whole)) {
            if self.texts.len() == usize::from(OWN) {
                return self.add(key, reach, element);
            }
            self.texts.push(Arc::clone(whole));
        }
        let text = u16::try_from(self.texts.len() - 1).unwrap_or(OWN);
        self.enter(text, start, key, reach, element);
    }

    fn enter(&mut self, text: u16, start: u32, key: &[u8], reach: Reach, element: u32) {
        let Ok(length) = u32::try_from(key.len()) else { return };
        self.entries.push(Held { start, length, element, text, reach });
        self.short |= length_bit(key.len());
        self.firsts.add(key.first().copied());
        self.lasts.add(key.last().copied());
    }

    /// Ends building.
    pub(crate) fn finish(&mut self) {
        self.lengths = self.all_lengths();
        self.own.shrink_to_fit();
        self.entries.shrink_to_fit();
        if self.entries.len() <= FEW {
            return;
        }
        let mut table = HashTable::with_capacity(self.entries.len());
        for (ix, entry) in (0u32..).zip(&self.entries) {
            let key = self.key(entry);
            // As `hash::<FOLD>`: keys are in lower case.
            let hash = hash::<false>(key);
            // Only the first of equal entries is kept: no key is met more often than there are reaches.
            let known =
                |other: &u32| self.entries.get(*other as usize).is_some_and(|other| self.same(entry, other));
            if let Entry::Vacant(place) = table.entry(hash, known, |ix| self::hash::<false>(self.key_at(*ix)))
            {
                place.insert(ix);
            }
        }
        self.table = Some(table);
    }

    fn all_lengths(&self) -> Vec<u32> {
        let mut lengths: Vec<u32> = (0..63).filter(|length| self.short & 1 << length != 0).collect();
        if self.short & length_bit(63) != 0 {
            let mut long: Vec<u32> =
                self.entries.iter().map(|entry| entry.length).filter(|length| *length >= 63).collect();
            long.sort_unstable();
            long.dedup();
            lengths.append(&mut long);
        }
        lengths
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn key(&self, entry: &Held) -> &[u8] {
        let (start, length) = (entry.start as usize, entry.length as usize);
        let text =
            self.texts.get(usize::from(entry.text)).map_or(&*self.own, |text| text.as_str().as_bytes());
        text.get(start..start + length).unwrap_or_default()
    }

    fn same(&self, one: &Held, other: &Held) -> bool {
        one.reach == other.reach && self.key(one) == self.key(other)
    }

    fn key_at(&self, ix: u32) -> &[u8] {
        self.entries.get(ix as usize).map_or(&[], |entry| self.key(entry))
    }

    /// The keys, each with what it covers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], Reach, u32)> {
        self.entries.iter().map(|entry| (self.key(entry), entry.reach, entry.element))
    }

    /// The least element whose key is `name`.
    pub(crate) fn find(&self, name: &[u8]) -> u32 {
        if self.short & length_bit(name.len()) == 0 || !self.firsts.has::<FOLD>(name.first().copied()) {
            return NONE;
        }
        match &self.table {
            Some(table) => self.probe(table, name, |_| true),
            None => self
                .least(|entry| entry.length as usize == name.len() && equal::<FOLD>(self.key(entry), name)),
        }
    }

    /// The least element whose key `name` begins with.
    pub(crate) fn find_beginning(&self, name: &[u8]) -> u32 {
        if !self.firsts.has::<FOLD>(name.first().copied()) {
            return NONE;
        }
        let Some(table) = &self.table else {
            return self.least(|entry| {
                name.get(..entry.length as usize).is_some_and(|head| equal::<FOLD>(self.key(entry), head))
            });
        };
        let heads = self.lengths.iter().map_while(|length| name.get(..*length as usize));
        heads.map(|head| self.probe(table, head, |_| true)).min().unwrap_or(NONE)
    }

    /// The least element whose key `name` ends with.
    pub(crate) fn find_ending(&self, name: &[u8]) -> u32 {
        if !self.lasts.has::<FOLD>(name.last().copied()) {
            return NONE;
        }
        let tail = |length: usize| name.len().checked_sub(length).and_then(|start| name.get(start..));
        let Some(table) = &self.table else {
            return self.least(|entry| {
                tail(entry.length as usize).is_some_and(|tail| equal::<FOLD>(self.key(entry), tail))
            });
        };
        let tails = self.lengths.iter().map_while(|length| tail(*length as usize));
        tails.map(|tail| self.probe(table, tail, |_| true)).min().unwrap_or(NONE)
    }

    /// The least element whose key is a directory that covers `path`, or `path` itself, as its reach says.
    pub(crate) fn find_path(&self, path: &[u8]) -> u32 {
        let Some(table) = &self.table else {
            return self.least(|entry| self.covers(entry, path));
        };
        let mut least = self.probe(table, path, |reach| reach != Reach::Below);
        for dir in self.dirs_above(path) {
            least = least.min(self.probe(table, dir, |reach| reach != Reach::Itself));
        }
        least
    }

    /// Whether a directory above `path` is a key, whatever the reach.
    pub(crate) fn has_above(&self, path: &[u8]) -> bool {
        self.dirs_above(path).any(|dir| self.find(dir) != NONE)
    }

    /// The directories above `path` of a length that occurs among the keys.
    fn dirs_above<'p>(&self, path: &'p [u8]) -> impl Iterator<Item = &'p [u8]> + use<'p, FOLD> {
        // None is shorter than the shortest key, and that of the root is no directory by name.
        let start = (self.short.trailing_zeros() as usize).max(1);
        let ends =
            memchr::memchr_iter(b'/', path.get(start..).unwrap_or_default()).map(move |end| start + end);
        let short = self.short;
        ends.filter(move |end| short & length_bit(*end) != 0).filter_map(|end| path.get(..end))
    }

    /// Elements ascend, so the first entry that fits has the least.
    fn least(&self, fits: impl Fn(&Held) -> bool) -> u32 {
        self.entries.iter().find(|entry| fits(entry)).map_or(NONE, |entry| entry.element)
    }

    /// Whether the directory that an entry is the key of covers `path`.
    fn covers(&self, entry: &Held, path: &[u8]) -> bool {
        let length = entry.length as usize;
        // The byte after the key is looked at first: it differs far more often than the key is long.
        let fits = match path.get(length) {
            None => path.len() == length && entry.reach != Reach::Below,
            Some(b'/') => entry.reach != Reach::Itself,
            Some(_) => false,
        };
        fits && path.get(..length).is_some_and(|head| equal::<FOLD>(self.key(entry), head))
    }

    fn probe(&self, table: &HashTable<u32>, key: &[u8], fits: impl Fn(Reach) -> bool) -> u32 {
        let mut least = NONE;
        for ix in table.iter_hash(hash::<FOLD>(key)) {
            let Some(entry) = self.entries.get(*ix as usize) else { continue };
            if fits(entry.reach) && equal::<FOLD>(self.key(entry), key) {
                least = least.min(entry.element);
            }
        }
        least
    }
}

fn equal<const FOLD: bool>(key: &[u8], given: &[u8]) -> bool {
    if FOLD { key.eq_ignore_ascii_case(given) } else { key == given }
}

fn length_bit(length: usize) -> u64 {
    1 << length.min(63)
}

/// A multiply-and-rotate hash over words of eight bytes. Only the author of the policy chooses what is stored, so it need
/// not withstand chosen keys.
fn hash<const FOLD: bool>(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    let mut state = bytes.len() as u64;
    for word in words.iter().chain([&last]) {
        let word = if FOLD { word.map(|byte| byte.to_ascii_lowercase()) } else { *word };
        state = (state.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR);
    }
    state ^ (state >> 32)
}

/// A set of bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Bytes([u64; 4]);

impl Bytes {
    fn add(&mut self, byte: Option<u8>) {
        if let Some(byte) = byte
            && let Some(word) = self.0.get_mut(usize::from(byte / 64))
        {
            *word |= 1 << (byte % 64);
        }
    }

    fn has<const FOLD: bool>(&self, byte: Option<u8>) -> bool {
        let Some(byte) = byte else { return false };
        let byte = if FOLD { byte.to_ascii_lowercase() } else { byte };
        self.0.get(usize::from(byte / 64)).is_some_and(|word| word & (1 << (byte % 64)) != 0)
    }
}
