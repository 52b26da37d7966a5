//! A number of seconds.
//!
//! ```text
//! duration = integer of seconds | text
//! text     = digits [ " " ] unit
//! unit     = s | m | h
//! ```

use super::Kind;
use super::quantity::{self, Fault, Unit, Words};
use crate::diag::Code;
use crate::endpoint::KeyKind;

const UNITS: [Unit; 3] = [("s", 1), ("m", 60), ("h", 3_600)];

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Duration,
    takes: "a number of seconds or a duration such as `30s`",
    doc: "A whole number of seconds, or text with a unit: `s`, `m` or `h`; decimals where the result is a whole number \
          of seconds (`1.5m`).",
    read: |cx, key, node| quantity::read(cx, key, &node, &WORDS, parse),
    schema: |_| quantity::schema(&UNITS, false),
};

const WORDS: Words = Words {
    code: Code::InvalidDuration,
    article: "a duration",
    smallest: "seconds",
    takes: KIND.takes,
    units: "a duration is a number of seconds, or a number with the unit `s`, `m` or `h`",
    offers,
};

/// Reads the text of a duration, in seconds.
///
/// # Errors
/// Why it is none.
pub fn parse(text: &str) -> Result<u64, Fault> {
    quantity::parse(text, |name| UNITS.iter().find(|(unit, _)| *unit == name).map(|(_, factor)| *factor))
}

/// The unit that a longer or upper-case word begins with: `min`, `Sec`, `hours`.
fn offers(number: &str, unit: &str) -> Vec<String> {
    let word = unit.to_ascii_lowercase();
    let known = ["s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes"];
    let hours = ["h", "hr", "hrs", "hour", "hours"];
    let short = word.get(..1).filter(|_| known.contains(&word.as_str()) || hours.contains(&word.as_str()));
    short.map(|short| format!("{number}{short}")).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations() {
        for (text, wanted) in [
            ("30s", Ok(30)),
            ("5m", Ok(300)),
            ("1h", Ok(3_600)),
            ("2 h", Ok(7_200)),
            ("1.5m", Ok(90)),
            ("30", Err(Fault::NoUnit)),
            ("0s", Err(Fault::Zero)),
            ("-1s", Err(Fault::Negative)),
            ("1.5s", Err(Fault::Fraction)),
            ("5M", Err(Fault::UnknownUnit("M".into()))),
            ("5min", Err(Fault::UnknownUnit("min".into()))),
            ("1d", Err(Fault::UnknownUnit("d".into()))),
            ("1h30m", Err(Fault::Malformed)),
            ("", Err(Fault::Malformed)),
            ("9999999999999999h", Err(Fault::Overflow)),
        ] {
            assert_eq!(parse(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn long_names_of_units_are_understood() {
        assert_eq!(offers("5", "min"), ["5m"]);
        assert_eq!(offers("5", "Hours"), ["5h"]);
        assert!(offers("5", "ms").is_empty());
        assert!(offers("5", "d").is_empty());
    }

    proptest! {
        #[test]
        fn durations_grow_with_number_and_unit(number in 1_u64..1_000_000_000) {
            let seconds = |unit: &str| parse(&format!("{number}{unit}")).unwrap();
            prop_assert!(seconds("s") < seconds("m") && seconds("m") < seconds("h"));
            prop_assert_eq!(seconds("h"), number * 3_600);
        }
    }
}
