//! Places, packed: the numbers of a sequence of places, each as the difference from the one before, in the base-64
//! digits that source maps use. A place on one line of one-byte characters takes four or five digits.
//!
//! Per place: `Δline·4 + wide·2 + absent`; if present, column (a difference on the same line, else from zero),
//! Δ first byte, length in bytes; if wide (several lines, or characters of several bytes), lines spanned and end column.

use crate::resolved::FilePlace;

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
        let lines = unzigzag(head >> 2);
        let line = self.last.line.checked_add(lines).ok_or(BadPlaces)?;
        let from = if lines == 0 { self.last.column } else { 0 };
        let column = self.signed(from)?;
        let byte = self.signed(self.last.byte)?;
        let end = self.signed(byte)?;
        let (end_line, end_column) = if head & 2 == 0 {
            (line, column.checked_add(end.checked_sub(byte).ok_or(BadPlaces)?).ok_or(BadPlaces)?)
        } else {
            (self.signed(line)?, self.signed(0)?)
        };
        self.last = Last { line, column, byte };
        let count = |value: i64, least: u32| match u32::try_from(value) {
            Ok(value) if value >= least => Ok(value),
            _ => Err(BadPlaces),
        };
        let place = FilePlace {
            file: self.file.ok_or(BadPlaces)?,
            line: count(line, 1)?,
            column: count(column, 1)?,
            end_line: count(end_line, 1)?,
            end_column: count(end_column, 1)?,
            byte_start: count(byte, 0)?,
            byte_end: count(end, 0)?,
        };
        let ordered = (place.line, place.byte_start) <= (place.end_line, place.byte_end);
        if ordered { Ok(Some(place)) } else { Err(BadPlaces) }
    }

    /// Whether every digit was read.
    pub(super) fn finished(&self) -> bool {
        self.rest.as_slice().is_empty()
    }

    fn signed(&mut self, from: i64) -> Result<i64, BadPlaces> {
        let difference = unzigzag(self.number()?);
        from.checked_add(difference).ok_or(BadPlaces)
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
