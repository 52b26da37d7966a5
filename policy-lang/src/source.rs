//! The text of every input, whatever its origin, and positions within it.
//!
//! A [`Span`] is a byte range of one source; a [`Place`] is the same range as a person counts it: lines and columns from
//! 1, columns in characters. Spans are cheap and made everywhere; places are made when something is shown or compiled.

mod lines;

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use lines::LineIndex;

/// The largest document that is read, in bytes. It also keeps every offset within `u32`.
pub const MAX_DOCUMENT_BYTES: usize = 16 << 20;

/// Which text of a [`SourceMap`] a span belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceId(pub u32);

/// A byte range `start..end` of one source. Both ends lie on character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The text.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A place in no text: of what has a place of its own, and whose findings are shown without one.
    pub(crate) const NOWHERE: Self = Self { source: SourceId(0), start: 0, end: 0 };

    /// The range as offsets into the text.
    #[must_use]
    pub const fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The smallest span that covers both; `self` where they are of different sources.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        if self.source != other.source {
            return self;
        }
        Self { source: self.source, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A range as a person counts it. Lines and columns are 1-based, columns count characters, the end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// The text.
    pub source: SourceId,
    /// Line of the first character.
    pub line: u32,
    /// Column of the first character.
    pub column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// Column of the end.
    pub end_column: u32,
    /// First byte.
    pub byte_start: u32,
    /// One past the last byte.
    pub byte_end: u32,
}

/// A value and where it was written. Equality and order ignore the place: two policies of the same effect are equal.
#[derive(Debug, Clone)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Spanned<T> {}

/// Every text that a run reads. Sources are added once and never change, so a span stays good for the whole run; a clone
/// shares the texts that were there, under the same ids.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    sources: Vec<Arc<Source>>,
}

/// One text, and why it may be unfit to be read as a document.
#[derive(Debug)]
struct Source {
    name: String,
    text: String,
    defect: Option<Defect>,
    lines: OnceLock<LineIndex>,
}

/// Why a text cannot be read at all. The reader turns it into a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// The first byte that is no UTF-8; the text holds U+FFFD in its place.
    NotUtf8 {
        /// Offset of the byte.
        offset: u32,
        /// Whether the bytes look like UTF-16.
        utf16: bool,
    },
    /// More bytes than [`MAX_DOCUMENT_BYTES`]; the text is cut there.
    TooLarge {
        /// How many there were.
        bytes: usize,
    },
}

impl SourceMap {
    /// A map without sources.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text under the name that diagnostics print: a file name, or `<preset read-only>`.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        let mut text = text.into();
        let bytes = text.len();
        let defect = (bytes > MAX_DOCUMENT_BYTES).then(|| {
            text.truncate(lines::boundary(&text, MAX_DOCUMENT_BYTES));
            Defect::TooLarge { bytes }
        });
        self.push(Source { name: name.into(), text, defect, lines: OnceLock::new() })
    }

    /// Adds the bytes of a file. Bytes that are no UTF-8 are kept in sight: reading the source reports the first of them
    /// with its place, and nothing of the text is taken for a policy.
    pub fn add_bytes(&mut self, name: impl Into<String>, bytes: Vec<u8>) -> SourceId {
        match String::from_utf8(bytes) {
            Ok(text) => self.add(name, text),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let mut bytes = error.into_bytes();
                let total = bytes.len();
                let utf16 = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
                bytes.truncate(MAX_DOCUMENT_BYTES);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let defect = match u32::try_from(valid) {
                    Ok(offset) if total <= MAX_DOCUMENT_BYTES => Defect::NotUtf8 { offset, utf16 },
                    _ => Defect::TooLarge { bytes: total },
                };
                self.push(Source { name: name.into(), text, defect: Some(defect), lines: OnceLock::new() })
            }
        }
    }

    fn push(&mut self, source: Source) -> SourceId {
        let id = SourceId(u32::try_from(self.sources.len()).unwrap_or(u32::MAX));
        self.sources.push(Arc::new(source));
        id
    }

    /// The text, byte order mark included. Empty for an id of another map.
    #[must_use]
    pub fn text(&self, id: SourceId) -> &str {
        self.get(id).map_or("", |source| &source.text)
    }

    /// The name that diagnostics print.
    #[must_use]
    pub fn name(&self, id: SourceId) -> &str {
        self.get(id).map_or("<unknown>", |source| &source.name)
    }

    /// Every source, in the order they were added.
    pub fn ids(&self) -> impl Iterator<Item = SourceId> + use<> {
        (0..u32::try_from(self.sources.len()).unwrap_or(u32::MAX)).map(SourceId)
    }

    /// The text of a span; empty where the span does not lie within its source.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text(span.source).get(span.range()).unwrap_or("")
    }

    /// Where a span lies, in `O(log lines)`. Offsets past the end count as the end, offsets inside a character as its start.
    #[must_use]
    pub fn place(&self, span: Span) -> Place {
        let (line, column) = self.line_column(span.source, span.start);
        let (end_line, end_column) = self.line_column(span.source, span.end);
        Place {
            source: span.source,
            line,
            column,
            end_line,
            end_column,
            byte_start: span.start,
            byte_end: span.end,
        }
    }

    /// Line and column of a byte offset, both from 1, the column in characters.
    #[must_use]
    pub fn line_column(&self, id: SourceId, offset: u32) -> (u32, u32) {
        self.with_lines(id).map_or((1, 1), |(text, lines)| lines.line_column(text, offset))
    }

    /// The bytes of a line counted from 1, without its line break; `None` past the last.
    #[must_use]
    pub fn line_span(&self, id: SourceId, line: u32) -> Option<Span> {
        let (text, lines) = self.with_lines(id)?;
        let range = lines.line_range(text, line)?;
        Some(Span { source: id, start: range.start, end: range.end })
    }

    /// Why the text cannot be read at all, if so.
    #[must_use]
    pub fn defect(&self, id: SourceId) -> Option<Defect> {
        self.get(id).and_then(|source| source.defect)
    }

    fn with_lines(&self, id: SourceId) -> Option<(&str, &LineIndex)> {
        let source = self.get(id)?;
        Some((&source.text, source.lines.get_or_init(|| LineIndex::new(&source.text))))
    }

    fn get(&self, id: SourceId) -> Option<&Source> {
        self.sources.get(id.0 as usize).map(|source| &**source)
    }
}
