//! The header `Range`: which part of a file is asked for.

/// What part of a file was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Range {
    Of { first: u64, last: u64 },
    Outside,
}

impl Range {
    /// Reads one range of bytes; `None` for what is no such range, or several: then the whole file is the answer.
    pub(super) fn read(text: &str, size: u64) -> Option<Self> {
        let (unit, set) = text.split_once('=')?;
        let (first, last) = set.trim().split_once('-')?;
        if !unit.trim().eq_ignore_ascii_case("bytes") {
            return None;
        }
        let (first, last) = match (number(first)?, number(last)?) {
            (None, None) => return None,
            (None, Some(0)) => return Some(Self::Outside),
            (None, Some(count)) => (size.saturating_sub(count), u64::MAX),
            (Some(first), None) => (first, u64::MAX),
            (Some(first), Some(last)) if first > last => return None,
            (Some(first), Some(last)) => (first, last),
        };
        if first >= size { Some(Self::Outside) } else { Some(Self::Of { first, last: last.min(size - 1) }) }
    }
}

/// Digits as a number, `Some(None)` for none at all. One that is too large lies behind every file.
fn number(text: &str) -> Option<Option<u64>> {
    if text.is_empty() {
        return Some(None);
    }
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| Some(text.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::Range;

    #[test]
    fn ranges() {
        let of = |first, last| Some(Range::Of { first, last });
        for (text, size, right) in [
            ("bytes=0-0", 10, of(0, 0)),
            ("bytes=2-5", 10, of(2, 5)),
            ("bytes=2-", 10, of(2, 9)),
            ("bytes=-3", 10, of(7, 9)),
            ("bytes=-30", 10, of(0, 9)),
            ("bytes=9-99999999999999999999999", 10, of(9, 9)),
            ("Bytes=0-0", 10, of(0, 0)),
            ("bytes=10-", 10, Some(Range::Outside)),
            ("bytes=99999999999999999999999-", 10, Some(Range::Outside)),
            ("bytes=-0", 10, Some(Range::Outside)),
            ("bytes=0-", 0, Some(Range::Outside)),
            ("bytes=-1", 0, Some(Range::Outside)),
            ("bytes=5-2", 10, None),
            ("bytes=0-1,3-4", 10, None),
            ("bytes=-", 10, None),
            ("bytes=a-b", 10, None),
            ("bytes=+1-2", 10, None),
            ("lines=1-2", 10, None),
            ("bytes", 10, None),
        ] {
            assert_eq!(Range::read(text, size), right, "{text} of {size}");
        }
    }
}
