//! The versions that a package asks for, as npm writes them: `>=18`, `^20.19 || >=22.12`, `18.x`, `>= 18 < 21`.

/// Major, minor and patch.
pub(super) type Version = [u64; 3];

/// A version such as `v20.11.1`; what follows the third number is left out.
pub(super) fn version(text: &str) -> Option<Version> {
    let (numbers, given) = partial(text)?;
    (given > 0).then_some(numbers)
}

/// Whether a version is one of those asked for. What cannot be read is no reason to refuse.
pub(super) fn allows(range: &str, have: Version) -> bool {
    range.split("||").any(|one| all(one, have))
}

fn all(range: &str, have: Version) -> bool {
    if let Some((low, high)) = range.split_once(" - ") {
        return compare(">=", low.trim(), have) && compare("<=", high.trim(), have);
    }
    // `>= 18` is one comparator.
    let mut words = range.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let (operator, text) = split(word);
        let text = if text.is_empty() { words.next().unwrap_or("*") } else { text };
        if !compare(operator, text, have) {
            return false;
        }
    }
    true
}

fn split(word: &str) -> (&str, &str) {
    let end = word.find(|c: char| !matches!(c, '<' | '>' | '=' | '^' | '~')).unwrap_or(word.len());
    word.split_at_checked(end).unwrap_or(("", word))
}

fn compare(operator: &str, text: &str, have: Version) -> bool {
    let Some((low, given)) = partial(text) else { return true };
    // The first version that no longer matches what was written.
    let beyond = |place: usize| {
        let mut next = low;
        for (at, number) in next.iter_mut().enumerate() {
            *number = match at.cmp(&place) {
                std::cmp::Ordering::Less => *number,
                std::cmp::Ordering::Equal => number.saturating_add(1),
                std::cmp::Ordering::Greater => 0,
            };
        }
        next
    };
    let within = |place: usize| have >= low && have < beyond(place);
    match operator {
        _ if given == 0 => true,
        ">=" => have >= low,
        ">" => {
            if given == 3 {
                have > low
            } else {
                have >= beyond(given - 1)
            }
        }
        "<" => have < low,
        "<=" => {
            if given == 3 {
                have <= low
            } else {
                have < beyond(given - 1)
            }
        }
        "^" => {
            let first = low.iter().position(|number| *number > 0).unwrap_or(2);
            within(first.min(given - 1))
        }
        "~" => within(1.min(given - 1)),
        _ if given == 3 => have == low,
        _ => within(given - 1),
    }
}

/// The numbers that are given, and how many: `18.x` has one.
fn partial(text: &str) -> Option<(Version, usize)> {
    let text = text.trim().trim_start_matches(['v', '=']);
    let plain = text.split(['-', '+']).next().unwrap_or_default();
    let (mut numbers, mut given) = ([0; 3], 0);
    for (place, part) in numbers.iter_mut().zip(plain.split('.')) {
        if matches!(part, "x" | "X" | "*" | "") {
            break;
        }
        *place = part.parse().ok()?;
        given += 1;
    }
    Some((numbers, given))
}

#[cfg(test)]
mod tests {
    use super::{allows, version};
    use proptest::prelude::*;

    #[test]
    fn ranges_as_packages_write_them() {
        let have = version("v20.20.2").unwrap();
        for yes in [
            ">=18",
            ">= 18",
            ">=18.0.0",
            "^20.19.0 || >=22.12.0",
            "20",
            "20.x",
            "20.20.x",
            "~20.20",
            "~20",
            "*",
            "",
            "x",
            ">=18 <21",
            "18 - 20",
            "^20",
            "<=20",
            ">19",
            "v20.20.2",
            "=20.20.2",
            ">=20.0.0-rc.1",
            "what is this",
        ] {
            assert!(allows(yes, have), "{yes}");
        }
        for no in [
            ">=22",
            "^22.1",
            "18.x",
            "~20.19",
            "<20",
            ">20",
            "16 - 18",
            ">=18 <20",
            "20.20.1",
            "^18 || ^22",
            ">= 22",
        ] {
            assert!(!allows(no, have), "{no}");
        }
        assert!(allows("^0.3.1", [0, 3, 9]) && !allows("^0.3.1", [0, 4, 0]) && !allows("^0.0.3", [0, 0, 4]));
    }

    proptest! {
        #[test]
        fn no_range_panics(range in "[0-9a-z.<>=^~| *-]{0,24}") {
            let _ = allows(&range, [20, 1, 1]);
        }
    }
}
