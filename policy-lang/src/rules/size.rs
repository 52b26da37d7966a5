//! A number of bytes.
//!
//! ```text
//! size   = integer of bytes | text
//! text   = number [ " " ] unit
//! number = digits [ "." digits ]       the result must be a whole number of bytes
//! unit   = B | KB MB GB TB (powers of 1000) | KiB MiB GiB TiB (powers of 1024), in any case
//! ```

use super::Kind;
use super::quantity::{self, Fault, Unit, Words};
use crate::diag::Code;
use crate::endpoint::KeyKind;

const UNITS: [Unit; 9] = [
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Size,
    takes: "a number of bytes or a size such as `5MB`",
    doc: "A whole number of bytes, or text with a unit: `B`, `KB`, `MB`, `GB`, `TB` are powers of 1000, `KiB`, `MiB`, \
          `GiB`, `TiB` powers of 1024; any case, one space at most before the unit, decimals where the result is a \
          whole number of bytes (`1.5MB`).",
    read: |cx, key, node| quantity::read(cx, key, &node, &WORDS, parse),
    schema: |_| quantity::schema(&UNITS, true),
};

const WORDS: Words = Words {
    code: Code::InvalidSize,
    article: "a size",
    smallest: "bytes",
    takes: KIND.takes,
    units: "a size is a number of bytes, or a number with one of the units `B`, `KB`, `MB`, `GB`, `TB` (powers of 1000) \
            and `KiB`, `MiB`, `GiB`, `TiB` (powers of 1024)",
    offers,
};

/// Reads the text of a size, in bytes.
///
/// # Errors
/// Why it is none.
pub fn parse(text: &str) -> Result<u64, Fault> {
    quantity::parse(text, |name| {
        UNITS.iter().find(|(unit, _)| unit.eq_ignore_ascii_case(name)).map(|(_, factor)| *factor)
    })
}

/// `5M` and `5Mi` may mean either of two units; `10 MiBs` the one that it begins with.
fn offers(number: &str, unit: &str) -> Vec<String> {
    let begins = |name: &str, with: &str| {
        name.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with)) && !with.is_empty()
    };
    let short = UNITS.iter().filter(|(name, _)| *name != "B" && begins(name, unit));
    let letter = unit.get(..1).unwrap_or_default();
    let short: Vec<_> = match unit.len() {
        1 => UNITS.iter().filter(|(name, _)| *name != "B" && begins(name, letter)).collect(),
        _ => short.collect(),
    };
    let long = || UNITS.iter().rev().filter(|(name, _)| *name != "B" && begins(unit, name)).take(1).collect();
    let near: Vec<&Unit> = if short.is_empty() { long() } else { short };
    near.into_iter().map(|(name, _)| format!("{number}{name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes() {
        for (text, wanted) in [
            ("5MB", Ok(5_000_000)),
            ("5Mb", Ok(5_000_000)),
            ("5mb", Ok(5_000_000)),
            ("5MiB", Ok(5 << 20)),
            ("5 mib", Ok(5 << 20)),
            ("1.5MB", Ok(1_500_000)),
            ("0.5KiB", Ok(512)),
            ("1.50KB", Ok(1_500)),
            ("1B", Ok(1)),
            ("8TiB", Ok(8 << 40)),
            ("8388607TiB", Ok(8_388_607 << 40)),
            ("5M", Err(Fault::UnknownUnit("M".into()))),
            ("500Mi", Err(Fault::UnknownUnit("Mi".into()))),
            ("10 MiBs", Err(Fault::UnknownUnit("MiBs".into()))),
            ("10 MiByte", Err(Fault::UnknownUnit("MiByte".into()))),
            ("16EiB", Err(Fault::UnknownUnit("EiB".into()))),
            ("5 M B", Err(Fault::Malformed)),
            ("5  MB", Err(Fault::Malformed)),
            ("5MB ", Err(Fault::Malformed)),
            (" 5MB", Err(Fault::Malformed)),
            ("", Err(Fault::Malformed)),
            ("MB", Err(Fault::Malformed)),
            (".5MB", Err(Fault::Malformed)),
            ("5.MB", Err(Fault::Malformed)),
            ("1.2.3MB", Err(Fault::Malformed)),
            ("05MB", Err(Fault::Malformed)),
            ("+5MB", Err(Fault::Malformed)),
            ("1e3MB", Err(Fault::Malformed)),
            ("５MB", Err(Fault::Malformed)),
            ("5", Err(Fault::NoUnit)),
            ("0MB", Err(Fault::Zero)),
            ("0.0MB", Err(Fault::Zero)),
            ("-5MB", Err(Fault::Negative)),
            ("1.9B", Err(Fault::Fraction)),
            ("0.0000001MB", Err(Fault::Fraction)),
            ("8388608TiB", Err(Fault::Overflow)),
            ("99999999999999999999999999999999999999999999TB", Err(Fault::Overflow)),
        ] {
            assert_eq!(parse(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn a_short_unit_is_offered_in_both_bases() {
        assert_eq!(offers("5", "M"), ["5MB", "5MiB"]);
        assert_eq!(offers("4", "g"), ["4GB", "4GiB"]);
        assert_eq!(offers("500", "Mi"), ["500MiB"]);
        assert_eq!(offers("10", "MiBs"), ["10MiB"]);
        assert_eq!(offers("10", "MByte"), ["10MB"]);
        assert!(offers("1", "EiB").is_empty());
    }

    proptest! {
        /// A larger unit is a larger size, and the binary unit of a letter is larger than the decimal one.
        #[test]
        fn sizes_grow_with_number_and_unit(number in 1_u64..8_000_000) {
            let bytes = |unit: &str| parse(&format!("{number}{unit}")).unwrap();
            for pair in ["B", "KB", "KiB", "MB", "MiB", "GB", "GiB", "TB", "TiB"].windows(2) {
                prop_assert!(bytes(pair[0]) < bytes(pair[1]));
            }
            for (unit, factor) in UNITS {
                prop_assert_eq!(bytes(unit), number * factor);
                let more = parse(&format!("{}{unit}", number + 1)).unwrap();
                prop_assert!(bytes(unit) < more);
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}") {
            let _ = parse(&text);
        }
    }
}
