//! The lines that carry a label, cut to the window around it, as a file of their own for the drawing library.

use std::collections::BTreeMap;
use std::ops::Range;

use codespan_reporting::files::{Error, Files};

use crate::diag::Label;
use crate::secret;
use crate::source::{SourceId, SourceMap, Span};

/// Columns that stand before the label where a line is cut.
const LEAD: usize = 24;
/// Columns that the line number and the border take.
const GUTTER: usize = 10;

/// What is shown of each source that has a label.
#[derive(Debug)]
pub(super) struct Excerpts {
    files: Vec<Excerpt>,
}

#[derive(Debug)]
struct Excerpt {
    source: SourceId,
    name: String,
    text: String,
    lines: Vec<Line>,
}

/// One shown line. Between lines that are no neighbours stand two empty ones, which the library folds into a break.
#[derive(Debug)]
struct Line {
    number: u32,
    /// Where it begins in the excerpt.
    start: usize,
    /// Bytes of the cut mark before it.
    mark: usize,
    /// The bytes of the source that it shows.
    shown: Range<usize>,
    /// The column of its first character.
    column: u32,
}

impl Excerpts {
    pub(super) fn new(sources: &SourceMap, labels: &[&Label], width: usize) -> Self {
        let mut order: Vec<SourceId> = Vec::new();
        for label in labels {
            if !order.contains(&label.span.source) {
                order.push(label.span.source);
            }
        }
        let files = order.into_iter().map(|id| Excerpt::new(sources, id, labels, width)).collect();
        Self { files }
    }

    /// Where a span is shown: file, and range in its excerpt. A span over several lines ends with the first. `None`
    /// where the line was cut before it.
    pub(super) fn locate(&self, span: Span) -> Option<(usize, Range<usize>)> {
        let (at, file) = self.files.iter().enumerate().find(|(_, file)| file.source == span.source)?;
        let (start, end) = (span.start as usize, span.end as usize);
        let fits = |line: &&Line| line.shown.start <= start && start <= line.shown.end && line.number > 0;
        let line = file.lines.iter().rfind(fits)?;
        let shift = line.start + line.mark;
        let from = shift + start - line.shown.start;
        let to = shift + end.min(line.shown.end).max(start) - line.shown.start;
        Some((at, from..to))
    }

    fn file(&self, id: usize) -> Result<&Excerpt, Error> {
        self.files.get(id).ok_or(Error::FileMissing)
    }
}

impl Excerpt {
    fn new(sources: &SourceMap, source: SourceId, labels: &[&Label], width: usize) -> Self {
        // The first label of a line, the primary before the others, is what its window is laid around.
        let mut focus: BTreeMap<u32, Option<u32>> = BTreeMap::new();
        for label in labels.iter().filter(|label| label.span.source == source) {
            let (line, _) = sources.line_column(source, label.span.start);
            focus.entry(line).or_insert(Some(label.span.start));
        }
        let numbers: Vec<u32> = focus.keys().copied().collect();
        for (line, next) in numbers.iter().zip(numbers.iter().skip(1)) {
            if next - line == 2 {
                focus.entry(line + 1).or_insert(None);
            }
        }
        let name = sources.name(source).chars().map(harmless).collect();
        let mut file = Self { source, name, text: String::new(), lines: Vec::new() };
        let mut last = None;
        for (number, at) in focus {
            if last.is_some_and(|last| number - last > 1) {
                file.skip();
                file.skip();
            }
            last = Some(number);
            file.add(sources, number, at, width.saturating_sub(GUTTER));
        }
        file
    }

    fn skip(&mut self) {
        self.lines.push(Line { number: 0, start: self.text.len(), mark: 0, shown: 0..0, column: 1 });
        self.text.push('\n');
    }

    fn add(&mut self, sources: &SourceMap, number: u32, focus: Option<u32>, room: usize) {
        let Some(span) = sources.line_span(self.source, number) else { return };
        let line = sources.slice(span);
        let start = span.start as usize;
        let window = window(line, focus.map_or(0, |at| (at as usize).saturating_sub(start)), room);
        let mark = if window.start > 0 { "…" } else { "" };
        let shown = start + window.start..start + window.end;
        let (_, column) = sources.line_column(self.source, u32::try_from(shown.start).unwrap_or(u32::MAX));
        self.lines.push(Line { number, start: self.text.len(), mark: mark.len(), shown, column });
        self.text.push_str(mark);
        self.text.extend(masked(line, &window).chars().map(harmless));
        if window.end < line.len() {
            self.text.push('…');
        }
        self.text.push('\n');
    }
}

impl<'a> Files<'a> for Excerpts {
    type FileId = usize;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: usize) -> Result<&'a str, Error> {
        Ok(&self.file(id)?.name)
    }

    fn source(&'a self, id: usize) -> Result<&'a str, Error> {
        Ok(&self.file(id)?.text)
    }

    fn line_index(&'a self, id: usize, byte_index: usize) -> Result<usize, Error> {
        let lines = &self.file(id)?.lines;
        Ok(lines.partition_point(|line| line.start <= byte_index).saturating_sub(1))
    }

    fn line_number(&'a self, id: usize, line_index: usize) -> Result<usize, Error> {
        let lines = &self.file(id)?.lines;
        Ok(lines.get(line_index).map_or(0, |line| line.number as usize))
    }

    fn column_number(&'a self, id: usize, line_index: usize, byte_index: usize) -> Result<usize, Error> {
        let file = self.file(id)?;
        let line = file.lines.get(line_index).ok_or(Error::FileMissing)?;
        let before = file.text.get(line.start + line.mark..byte_index).unwrap_or("");
        Ok(line.column as usize + before.chars().count())
    }

    fn line_range(&'a self, id: usize, line_index: usize) -> Result<Range<usize>, Error> {
        let file = self.file(id)?;
        let line = file
            .lines
            .get(line_index)
            .ok_or(Error::LineTooLarge { given: line_index, max: file.lines.len().saturating_sub(1) })?;
        let end = file.lines.get(line_index + 1).map_or(file.text.len(), |next| next.start);
        Ok(line.start..end)
    }
}

/// A part of a line without secrets. Their keys are looked for a little way around it, however long the line.
fn masked(line: &str, part: &Range<usize>) -> String {
    const AROUND: usize = 4096;
    let boundary =
        |from: usize| (from..line.len()).find(|at| line.is_char_boundary(*at)).unwrap_or(line.len());
    let from = boundary(part.start.saturating_sub(AROUND)).min(part.start);
    let until = boundary(part.end.saturating_add(AROUND));
    let masked = secret::masked(line.get(from..until).unwrap_or(""));
    masked.get(part.start - from..part.end - from).unwrap_or("").to_owned()
}

/// The part of a line to show: all of it, or what fits around a byte of it, some of it before that byte.
fn window(line: &str, focus: usize, room: usize) -> Range<usize> {
    let cells = |c: char| if c.is_ascii() { 1 } else { 2 };
    // Never more characters are looked at than fit, however long the line.
    let width = |text: &str| text.chars().take(room + 1).map(cells).sum::<usize>();
    if width(line) <= room {
        return 0..line.len();
    }
    // Two columns for the marks of the cuts.
    let room = room.saturating_sub(2);
    let (before, after) = line.split_at_checked(focus).unwrap_or((line, ""));
    // Where little follows, more of what stands before is shown.
    let lead = LEAD.max(room.saturating_sub(width(after)));
    let mut used = 0;
    let skipped = before.char_indices().rev().find(|&(_, character)| {
        used += cells(character);
        used > lead
    });
    let start = skipped.map_or(0, |(at, character)| at + character.len_utf8());
    let mut used = 0;
    let shown = line.get(start..).unwrap_or("");
    let cut = shown.char_indices().find(|&(_, character)| {
        used += cells(character);
        used > room
    });
    start..cut.map_or(line.len(), |(at, _)| start + at)
}

/// A character as a terminal may have it: no controls, nothing that turns the direction of writing. What replaces
/// another has as many bytes, so that offsets hold.
const fn harmless(character: char) -> char {
    match character {
        '\t' => character,
        '\u{0}'..='\u{1F}' | '\u{7F}' => '?',
        '\u{80}'..='\u{9F}' => '\u{B7}',
        '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' => {
            '\u{FFFD}'
        }
        _ => character,
    }
}
