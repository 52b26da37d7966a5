//! Places, packed: the numbers of a sequence of places, each as the difference from the one before, in the base-64
//! digits that source maps use. A place on one line of one-byte characters takes four or five digits; those of a list stand
//! in runs, so that most lists take no more than one place.
//!
//! Per place: `Δline·4 + wide·2 + absent`; if present, column (a difference on the same line, else from zero),
//! Δ first byte, length in bytes; if wide (several lines, or characters of several bytes), lines spanned and end column.
//! Per run of a list: how many elements, the place of the first; if there are more, the bytes and the lines between two.

use crate::resolved::{FilePlace, List, Run, Step};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes places one after another.
#[derive(Debug, Default)]
pub(super) struct Packer {
    text: String,
    last: Last,
}

/// What differences are taken from.
#[derive(Debug, Default, Clone, Copy)]
struct Last {
    line: i64,
    column: i64,
    byte: i64,
}

impl Packer {
    pub(super) fn push(&mut self, place: Option<&FilePlace>) {
        let Some(place) = place else { return self.number(1) };
        let length = i64::from(place.byte_end) - i64::from(place.byte_start);
        let (line, column) = (i64::from(place.line), i64::from(place.column));
        let wide = place.end_line != place.line || i64::from(place.end_column) - column != length;
        let lines = line - self.last.line;
        self.number((zigzag(lines) << 2) | (u64::from(wide) << 1));
        self.number(zigzag(if lines == 0 { column - self.last.column } else { column }));
        self.number(zigzag(i64::from(place.byte_start) - self.last.byte));
        self.number(zigzag(length));
        if wide {
            self.number(zigzag(i64::from(place.end_line) - line));
            self.number(zigzag(i64::from(place.end_column)));
        }
        self.last = Last { line, column, byte: i64::from(place.byte_start) };
    }

    /// The places of all elements of a list.
    pub(super) fn push_list(&mut self, list: &List) {
        for (run, count) in list.runs() {
            self.number(count.into());
            self.push(run.place.as_ref());
            if let (Some(step), 2..) = (run.step, count) {
                self.number(step.gap.into());
                self.number(step.lines.into());
            }
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn number(&mut self, mut value: u64) {
        loop {
            let more = value > 0b1_1111;
            let digit = (value & 0b1_1111) | (u64::from(more) << 5);
            self.text.push(DIGITS.get(digit as usize).map_or('A', |digit| char::from(*digit)));
            value >>= 5;
            if !more {
                return;
            }
        }
    }
}

/// Reads places one after another. `None` within the `Option`: no such place; an error: the text is no packed sequence.
#[derive(Debug)]
pub(super) struct Unpacker<'a> {
    rest: std::slice::Iter<'a, u8>,
    file: Option<u32>,
    last: Last,
}

/// The text is no packed sequence of places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadPlaces;

impl<'a> Unpacker<'a> {
    pub(super) fn new(text: &'a str, file: Option<u32>) -> Self {
        Self { rest: text.as_bytes().iter(), file, last: Last::default() }
    }

    pub(super) fn pull(&mut self) -> Result<Option<FilePlace>, BadPlaces> {
        let head = self.number()?;
        if head & 1 == 1 {
            return if head == 1 { Ok(None) } else { Err(BadPlaces) };
        }
        // A number has 40 bits and what it is added to 32: no sum overflows.
        let lines = unzigzag(head >> 2);
        let line = self.last.line + lines;
        let column = if lines == 0 { self.last.column } else { 0 } + unzigzag(self.number()?);
        let byte = self.last.byte + unzigzag(self.number()?);
        let end = byte + unzigzag(self.number()?);
        let (end_line, end_column) = if head & 2 == 0 {
            (line, column + (end - byte))
        } else {
            (line + unzigzag(self.number()?), unzigzag(self.number()?))
        };
        let place = FilePlace {
            file: self.file.ok_or(BadPlaces)?,
            line: at_least(1, line)?,
            column: at_least(1, column)?,
            end_line: at_least(1, end_line)?,
            end_column: at_least(1, end_column)?,
            byte_start: at_least(0, byte)?,
            byte_end: at_least(0, end)?,
        };
        self.last = Last { line, column, byte };
        let ordered = (place.line, place.byte_start) <= (place.end_line, place.byte_end);
        if ordered { Ok(Some(place)) } else { Err(BadPlaces) }
    }

    /// Reads the places of all elements of a list.
    pub(super) fn pull_list(&mut self, list: &mut List) -> Result<(), BadPlaces> {
        let elements = u32::try_from(list.len()).map_err(|_| BadPlaces)?;
        let mut first = 0;
        while first < elements {
            let count = self.count()?;
            if count == 0 || count > elements - first {
                return Err(BadPlaces);
            }
            let place = self.pull()?;
            let step = if count > 1 && place.is_some() {
                Some(Step { gap: self.count()?, lines: self.count()? })
            } else {
                None
            };
            if !list.push_run(Run { first, place, step }, count) {
                return Err(BadPlaces);
            }
            first += count;
        }
        Ok(())
    }

    /// Whether every digit was read.
    pub(super) fn finished(&self) -> bool {
        self.rest.as_slice().is_empty()
    }

    fn count(&mut self) -> Result<u32, BadPlaces> {
        u32::try_from(self.number()?).map_err(|_| BadPlaces)
    }

    fn number(&mut self) -> Result<u64, BadPlaces> {
        let mut value = 0;
        // Seven digits hold every number that a place of 32 bits can need.
        for shift in (0..40).step_by(5) {
            let digit = u64::from(digit(*self.rest.next().ok_or(BadPlaces)?)?);
            value |= (digit & 0b1_1111) << shift;
            if digit <= 0b1_1111 {
                return Ok(value);
            }
        }
        Err(BadPlaces)
    }
}

/// A number of 32 bits that is no less than `least`.
fn at_least(least: i64, value: i64) -> Result<u32, BadPlaces> {
    if value >= least { u32::try_from(value).map_err(|_| BadPlaces) } else { Err(BadPlaces) }
}

const fn digit(byte: u8) -> Result<u8, BadPlaces> {
    Ok(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return Err(BadPlaces),
    })
}

/// Small numbers of either sign to small numbers.
const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn place() -> impl Strategy<Value = Option<FilePlace>> {
        let numbers = (1..u32::MAX, 1..u32::MAX, 0..1_000_u32, 1..u32::MAX, 0..u32::MAX / 2, 0..u32::MAX / 2);
        proptest::option::of(numbers.prop_map(|(line, column, lines, end_column, byte_start, length)| {
            FilePlace {
                file: 3,
                line,
                column,
                end_line: line.saturating_add(lines),
                end_column,
                byte_start,
                byte_end: byte_start + length,
            }
        }))
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(places in proptest::collection::vec(place(), 0..20)) {
            let mut packer = Packer::default();
            places.iter().for_each(|place| packer.push(place.as_ref()));
            let text = packer.finish();
            let mut unpacker = Unpacker::new(&text, Some(3));
            for place in places {
                prop_assert_eq!(unpacker.pull(), Ok(place));
            }
            prop_assert!(unpacker.finished());
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[A-Za-z0-9+/ é]{0,40}") {
            let mut unpacker = Unpacker::new(&text, Some(0));
            while unpacker.pull().is_ok() {}
        }
    }

    #[test]
    fn a_place_on_one_line_is_short() {
        let mut packer = Packer::default();
        let place = |line, column, byte_start| FilePlace {
            file: 0,
            line,
            column,
            end_line: line,
            end_column: column + 9,
            byte_start,
            byte_end: byte_start + 9,
        };
        packer.push(Some(&place(7, 11, 120)));
        let before = packer.text.len();
        packer.push(Some(&place(8, 11, 140)));
        assert_eq!(packer.text.len() - before, 5);
    }
}
