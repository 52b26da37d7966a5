//! File times as text.

use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

const ISO: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]");
const HTTP: &[BorrowedFormatItem<'_>] =
    format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");

/// ISO 8601 in UTC with an offset, and microseconds where there are any: `2026-09-21T00:00:00+00:00`.
#[must_use]
pub fn iso_utc(seconds: i64, nanoseconds: u64) -> String {
    let Ok(moment) = OffsetDateTime::from_unix_timestamp(seconds) else { return String::new() };
    let text = moment.format(ISO).unwrap_or_default();
    match nanoseconds / 1000 {
        0 => format!("{text}+00:00"),
        micros => format!("{text}.{micros:06}+00:00"),
    }
}

/// The form of HTTP headers: `Mon, 21 Sep 2026 00:00:00 GMT`.
#[must_use]
pub fn http_date(seconds: i64) -> String {
    OffsetDateTime::from_unix_timestamp(seconds)
        .ok()
        .and_then(|moment| moment.format(HTTP).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_as_their_readers_expect_them() {
        assert_eq!(iso_utc(1_790_000_000, 0), "2026-09-21T14:13:20+00:00");
        assert_eq!(iso_utc(0, 1_500_000), "1970-01-01T00:00:00.001500+00:00");
        assert_eq!(iso_utc(i64::MAX, 0), "");
        assert_eq!(http_date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
