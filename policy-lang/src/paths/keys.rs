//! A set of byte strings looked up by equality: a line of them while they are few, a hash table beyond that.

pub(crate) use super::classify::Reach;
use hashbrown::HashTable;

/// Up to so many keys are compared one after the other.
const FEW: usize = 48;

/// The answer of a lookup that finds nothing; greater than every element.
pub(crate) const NONE: u32 = u32::MAX;

/// Keys with the element that each came from. `FOLD`: ASCII case is ignored, and keys are given in lower case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys<const FOLD: bool> {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
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
struct Entry {
    start: u32,
    length: u32,
    element: u32,
    reach: Reach,
}

impl<const FOLD: bool> Keys<FOLD> {
    /// Adds a key. Elements come in ascending order, so that the first entry of a key has the least.
    pub(crate) fn add(&mut self, key: &[u8], reach: Reach, element: u32) {
        let (Ok(start), Ok(length)) = (u32::try_from(self.bytes.len()), u32::try_from(key.len())) else {
            // Texts are bounded far below 4 GiB before they come here.
            return;
        };
        self.bytes.extend_from_slice(key);
        self.entries.push(Entry { start, length, element, reach });
        self.short |= length_bit(key.len());
        self.firsts.add(key.first().copied());
        self.lasts.add(key.last().copied());
    }

    /// Ends building.
    pub(crate) fn finish(&mut self) {
        self.lengths = self.entries.iter().map(|entry| entry.length).collect();
        self.lengths.sort_unstable();
        self.lengths.dedup();
        self.bytes.shrink_to_fit();
        self.entries.shrink_to_fit();
        if self.entries.len() <= FEW {
            return;
        }
        let mut table = HashTable::with_capacity(self.entries.len());
        for (ix, entry) in (0u32..).zip(&self.entries) {
            let key = self.key(entry);
            let hash = hash::<FOLD>(key);
            // Only the first of equal entries is kept: no key is met more often than there are reaches.
            let known =
                |other: &u32| self.entries.get(*other as usize).is_some_and(|other| self.same(entry, other));
            if table.find(hash, known).is_none() {
                table.insert_unique(hash, ix, |other| self::hash::<FOLD>(self.key_at(*other)));
            }
        }
        self.table = Some(table);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn key(&self, entry: &Entry) -> &[u8] {
        let start = entry.start as usize;
        self.bytes.get(start..start + entry.length as usize).unwrap_or_default()
    }

    fn same(&self, one: &Entry, other: &Entry) -> bool {
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
            None => self.least(|key, _| equal::<FOLD>(key, name)),
        }
    }

    /// The least element whose key `name` begins with.
    pub(crate) fn find_beginning(&self, name: &[u8]) -> u32 {
        if !self.firsts.has::<FOLD>(name.first().copied()) {
            return NONE;
        }
        let Some(table) = &self.table else {
            return self.least(|key, _| name.get(..key.len()).is_some_and(|head| equal::<FOLD>(key, head)));
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
            return self.least(|key, _| tail(key.len()).is_some_and(|tail| equal::<FOLD>(key, tail)));
        };
        let tails = self.lengths.iter().map_while(|length| tail(*length as usize));
        tails.map(|tail| self.probe(table, tail, |_| true)).min().unwrap_or(NONE)
    }

    /// The least element whose key is a directory that covers `path`, or `path` itself, as its reach says.
    pub(crate) fn find_path(&self, path: &[u8]) -> u32 {
        let Some(table) = &self.table else {
            return self.least(|key, reach| covers::<FOLD>(key, reach, path));
        };
        let mut least = self.probe(table, path, |reach| reach != Reach::Below);
        for end in memchr::memchr_iter(b'/', path).skip(1) {
            if self.short & length_bit(end) != 0 {
                let dir = path.get(..end).unwrap_or_default();
                least = least.min(self.probe(table, dir, |reach| reach != Reach::Itself));
            }
        }
        least
    }

    /// Elements ascend, so the first entry that fits has the least.
    fn least(&self, fits: impl Fn(&[u8], Reach) -> bool) -> u32 {
        let found = self.entries.iter().find(|entry| fits(self.key(entry), entry.reach));
        found.map_or(NONE, |entry| entry.element)
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

/// Whether the directory `key` covers `path`.
fn covers<const FOLD: bool>(key: &[u8], reach: Reach, path: &[u8]) -> bool {
    // The byte after the key is looked at first: it differs far more often than the key is long.
    let fits = match path.get(key.len()) {
        None => path.len() == key.len() && reach != Reach::Below,
        Some(b'/') => reach != Reach::Itself,
        Some(_) => false,
    };
    fits && path.get(..key.len()).is_some_and(|head| equal::<FOLD>(key, head))
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
