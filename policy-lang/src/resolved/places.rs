//! Where the elements of a list were written, in runs: one element after the other on a line, or one a line, is told by the
//! place of the first, since the texts are known. A list of any length takes a handful of runs, and any place is counted
//! out without a look at the others.

use super::FilePlace;

/// The runs of a list, by ascending first element; the first begins with element 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Places(Vec<Run>);

/// Elements that follow each other in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    /// The number of its first element.
    pub(crate) first: u32,
    /// Where that was written; `None`: nowhere, as all the others of the run.
    pub(crate) place: Option<FilePlace>,
    /// How each of the others follows the one before it.
    pub(crate) step: Option<Step>,
}

/// From the end of an element to the begin of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// Bytes between the two.
    pub(crate) gap: u32,
    /// Lines down, to the same column. 0: on the same line.
    pub(crate) lines: u32,
}

impl Places {
    /// The place of the next element. `ends`: where each element ends in the text of the list, this one included.
    pub(crate) fn push(&mut self, place: Option<FilePlace>, ends: &[u32]) {
        let Some(element) = ends.len().checked_sub(1).and_then(|last| u32::try_from(last).ok()) else {
            return;
        };
        if let Some(run) = self.0.last_mut() {
            if run.place.is_none() && place.is_none() {
                return;
            }
            if element == run.first + 1 {
                run.step = run.place.zip(place).and_then(|(before, next)| Step::between(before, next));
            }
            if place.is_some() && run.get(element, ends) == place {
                return;
            }
            if element == run.first + 1 {
                run.step = None;
            }
        }
        self.0.push(Run { first: element, place, step: None });
    }

    /// Adds a run of `count` elements of a list whose text has so many `bytes`. Whether every place of it can be counted out.
    pub(crate) fn push_run(&mut self, run: Run, count: u32, bytes: u32) -> bool {
        if self.0.is_empty() {
            // Most lists have no second one, and room for four would be set aside.
            self.0.reserve_exact(1);
        }
        self.0.push(run);
        run.is_sound(count, bytes)
    }

    pub(crate) fn get(&self, element: usize, ends: &[u32]) -> Option<FilePlace> {
        let element = u32::try_from(element).ok()?;
        let after = self.0.partition_point(|run| run.first <= element);
        self.0.get(after.checked_sub(1)?)?.get(element, ends)
    }

    /// Every run, with how many elements it has in a list of so many.
    pub(crate) fn runs(&self, elements: usize) -> impl Iterator<Item = (Run, u32)> {
        let elements = u32::try_from(elements).unwrap_or(u32::MAX);
        let ends = self.0.iter().skip(1).map(|run| run.first).chain([elements]);
        self.0.iter().zip(ends).map(|(run, end)| (*run, end.saturating_sub(run.first)))
    }
}

impl Run {
    /// Whether `count` elements, of so many `bytes` together, have places that are numbers of 32 bits: told without a look at
    /// where each ends, so that the ends need not be known yet.
    fn is_sound(&self, count: u32, bytes: u32) -> bool {
        let Some(place) = self.place.filter(|_| count > 1) else { return true };
        let Some(step) = self.step else { return false };
        let (count, most) = (u64::from(count), u64::from(u32::MAX));
        let around = u64::from(place.byte_end.saturating_sub(place.byte_start));
        let steps = count.saturating_mul(around + u64::from(step.gap));
        let start = u64::from(place.byte_end.max(place.column));
        let furthest = steps.saturating_add(start + around + 2 * u64::from(bytes));
        let lowest = count.saturating_mul(step.lines.into()).saturating_add(place.line.into());
        furthest.max(lowest) <= most
    }

    /// The place of an element of this run.
    fn get(&self, element: u32, ends: &[u32]) -> Option<FilePlace> {
        let place = self.place?;
        let Some(count) = element.checked_sub(self.first).filter(|count| *count > 0) else {
            return Some(place);
        };
        let step = self.step?;
        let (first, this) = (bounds(self.first, ends)?, bounds(element, ends)?);
        // Quotes.
        let around = (place.byte_end.checked_sub(place.byte_start)?).saturating_sub(first.1 - first.0);
        let texts = this.0 - first.0 - count;
        let shift = texts.checked_add(count.checked_mul(around.checked_add(step.gap)?)?)?;
        let length = (this.1 - this.0).checked_add(around)?;
        let line = place.line.checked_add(count.checked_mul(step.lines)?)?;
        let column = if step.lines == 0 { place.column.checked_add(shift)? } else { place.column };
        let byte_start = place.byte_start.checked_add(shift)?;
        Some(FilePlace {
            file: place.file,
            line,
            column,
            end_line: line,
            end_column: column.checked_add(length)?,
            byte_start,
            byte_end: byte_start.checked_add(length)?,
        })
    }
}

impl Step {
    fn between(before: FilePlace, next: FilePlace) -> Option<Self> {
        let gap = next.byte_start.checked_sub(before.byte_end)?;
        let lines = next.line.checked_sub(before.line)?;
        let narrow = before.line == before.end_line
            && before.end_column.checked_sub(before.column) == before.byte_end.checked_sub(before.byte_start);
        narrow.then_some(Self { gap, lines })
    }
}

/// Where an element begins and ends in the text of the list.
fn bounds(element: u32, ends: &[u32]) -> Option<(u32, u32)> {
    let element = element as usize;
    let end = *ends.get(element)?;
    let start = element.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |end| end + 1);
    Some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A value's length, and its place.
    fn written() -> impl Strategy<Value = Vec<(u32, Option<FilePlace>)>> {
        let one = (0..4_u32, 0..12_u32, 0..3_u32, 0..3_u32, 0..8_u32);
        let any = (0..4_u32, (0..2_u32, any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>()));
        let regular = prop::collection::vec(one, 0..12).prop_map(|all| {
            let (mut line, mut column, mut byte) = (1, 1, 0);
            let mut written = Vec::new();
            for (length, kind, quotes, gap, odd) in all {
                let bytes = length + quotes;
                let wide = u32::from(odd == 0);
                let place = FilePlace {
                    file: 1,
                    line,
                    column,
                    end_line: line + wide,
                    end_column: column + bytes - wide.min(bytes),
                    byte_start: byte,
                    byte_end: byte + bytes,
                };
                written.push((length, (kind > 1).then_some(place)));
                byte += bytes + gap;
                if kind > 8 {
                    line += 1;
                } else {
                    column += bytes + gap;
                }
            }
            written
        });
        let wild = any.prop_map(|(length, (file, line, column, byte_start, byte_end))| {
            let place =
                FilePlace { file, line, column, end_line: line, end_column: column, byte_start, byte_end };
            (length, Some(place))
        });
        prop_oneof![regular, prop::collection::vec(wild, 0..6)]
    }

    fn ends_of(lengths: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut ends: Vec<u32> = Vec::new();
        for length in lengths {
            ends.push(ends.last().map_or(0, |end| end + 1) + length);
        }
        ends
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn what_is_put_in_is_given_back(written in written()) {
            let ends = ends_of(written.iter().map(|(length, _)| *length));
            let mut places = Places::default();
            for (element, (_, place)) in written.iter().enumerate() {
                places.push(*place, &ends[..=element]);
            }
            for (element, (_, place)) in written.iter().enumerate() {
                prop_assert_eq!(places.get(element, &ends), *place, "{}", element);
            }
            let mut again = Places::default();
            let mut total = 0;
            for (run, count) in places.runs(ends.len()) {
                total += count;
                prop_assert!(count > 0 && again.push_run(run, count, ends.last().copied().unwrap_or_default()));
            }
            prop_assert_eq!((again, total as usize), (places, ends.len()));
        }
    }

    #[test]
    fn a_regular_list_is_one_run() {
        for lines in [0, 1] {
            let (ends, mut places) = (ends_of([3, 9, 1, 7].into_iter()), Places::default());
            let (mut line, mut column, mut byte) = (4, 9, 30);
            for (element, length) in [3, 9, 1, 7].into_iter().enumerate() {
                let end = (column + length + 2, byte + length + 2);
                let place = FilePlace {
                    file: 0,
                    line,
                    column,
                    end_line: line,
                    end_column: end.0,
                    byte_start: byte,
                    byte_end: end.1,
                };
                places.push(Some(place), &ends[..=element]);
                line += lines;
                column = if lines == 0 { end.0 + 2 } else { column };
                byte = end.1 + 2;
            }
            assert_eq!(places.0.len(), 1);
        }
    }
}
