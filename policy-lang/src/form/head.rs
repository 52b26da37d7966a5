//! The head of a compiled set: everything before its lists of paths, of which most of a large set consists. Whoever only
//! starts a server need not hold the rest yet.

use super::FormError;
use super::read::{claim, vouched};
use super::tail::PATHS;
use memchr::{memchr, memmem};

/// What most heads have room in, in bytes.
const USUAL: usize = 16 * 1024;

/// Where a compiled set comes from.
#[derive(Debug)]
pub enum SetText {
    /// All of its text.
    Whole(String),
    /// Its head, and a way to all of it.
    Head(Head, Again),
}

impl From<String> for SetText {
    fn from(text: String) -> Self {
        Self::Whole(text)
    }
}

/// Reads a set again, as a whole.
pub struct Again(Box<dyn FnOnce() -> Result<String, String> + Send>);

impl Again {
    /// `again` says why it cannot.
    pub fn new(again: impl FnOnce() -> Result<String, String> + Send + 'static) -> Self {
        Self(Box::new(again))
    }

    /// Reads it.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn read(self) -> Result<String, String> {
        (self.0)()
    }
}

impl std::fmt::Debug for Again {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Again")
    }
}

/// Takes a set piece by piece. What comes behind its head is only counted.
#[derive(Debug)]
pub struct HeadReader {
    kept: Vec<u8>,
    /// Where the lists begin, once that is known.
    paths: Option<usize>,
    checksum: crc32fast::Hasher,
    length: u64,
}

/// The head of a set.
#[derive(Debug)]
pub struct Head {
    kept: Vec<u8>,
    checksum: u32,
    length: u64,
}

/// A head that its own first line vouches for, and all that it says of the rest.
pub(super) struct Vouched {
    /// The set as if it had no lists.
    pub(super) json: String,
    /// The byte of the set that its lists begin with.
    pub(super) paths: u32,
    /// Bytes of the set.
    pub(super) length: u32,
}

impl Default for HeadReader {
    fn default() -> Self {
        Self { kept: Vec::with_capacity(USUAL), paths: None, checksum: crc32fast::Hasher::new(), length: 0 }
    }
}

impl HeadReader {
    /// Takes the next piece.
    pub fn push(&mut self, piece: &[u8]) {
        self.length += piece.len() as u64;
        if self.paths.is_some() {
            return self.checksum.update(piece);
        }
        // It may have begun in the piece before.
        let from = (self.kept.len() + 1).saturating_sub(PATHS.len());
        self.kept.extend_from_slice(piece);
        let found = memmem::find(self.kept.get(from..).unwrap_or_default(), PATHS.as_bytes());
        if let Some(found) = found {
            let body = memchr(b'\n', &self.kept).map_or(self.kept.len(), |end| end + 1);
            self.checksum.update(self.kept.get(body..).unwrap_or_default());
            self.kept.truncate(from + found);
            self.paths = Some(from + found);
        }
    }

    /// The head; or else all bytes, of a set that says nothing of lists.
    ///
    /// # Errors
    /// All bytes.
    pub fn finish(self) -> Result<Head, Vec<u8>> {
        match self.paths {
            None => Err(self.kept),
            Some(_) => Ok(Head { kept: self.kept, checksum: self.checksum.finalize(), length: self.length }),
        }
    }
}

impl Head {
    /// The text of the head, as far as it is one.
    #[must_use]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.kept).unwrap_or_default()
    }

    pub(super) fn vouch(self) -> Result<Vouched, FormError> {
        let length = u32::try_from(self.length).map_err(|_| FormError::too_large())?;
        let mut json = String::from_utf8(self.kept).map_err(|_| FormError::Checksum)?;
        let (checksum, _) = claim(&json)?;
        vouched(checksum, self.checksum)?;
        let paths = u32::try_from(json.len() + PATHS.len()).map_err(|_| FormError::too_large())?;
        // The comma before the lists.
        if json.pop() != Some(',') {
            return Err(FormError::Shape("something else than a comma stands before `paths`".to_owned()));
        }
        json.push('}');
        Ok(Vouched { json, paths, length })
    }
}
