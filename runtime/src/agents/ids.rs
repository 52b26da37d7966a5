//! Names of what is kept: a prefix that says what it is, and a ULID, so that they sort by the time they were made.

use std::sync::{Mutex, PoisonError};
use ulid::{Generator, Ulid};

/// A session.
pub const SESSION: &str = "ses_";
/// A turn.
pub const TURN: &str = "trn_";
/// An item of a transcript.
pub const ITEM: &str = "itm_";
/// A request that waits for somebody.
pub const REQUEST: &str = "req_";
/// A standing permission rule.
pub const RULE: &str = "rul_";
/// A checkpoint of a workspace.
pub const CHECKPOINT: &str = "chk_";
/// An artifact.
pub const ARTIFACT: &str = "art_";
/// An agent process.
pub const PROCESS: &str = "prc_";
/// A schedule.
pub const SCHEDULE: &str = "sch_";
/// A webhook.
pub const WEBHOOK: &str = "whk_";

/// Makes names of one process rise even within a millisecond.
static NAMES: Mutex<Generator> = Mutex::new(Generator::new());

/// A new name; later ones are greater.
#[must_use]
pub fn new(prefix: &str) -> String {
    let made = NAMES.lock().unwrap_or_else(PoisonError::into_inner).generate().ok();
    // All random bits of a millisecond spent: not in the life of a machine.
    format!("{prefix}{}", made.unwrap_or_else(Ulid::generate))
}

/// A name that follows from its parts: made anew from the same parts, it is the same. `at` is in epoch seconds.
#[must_use]
pub fn derived(prefix: &str, at: f64, parts: &[&[u8]]) -> String {
    use sha2::{Digest as _, Sha256};
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        digest.update(part);
    }
    let mut random = [0; 16];
    random.iter_mut().zip(digest.finalize()).for_each(|(to, from)| *to = from);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time, clamped")]
    let millis = (at * 1000.0).clamp(0.0, 281_474_976_710_655.0) as u64;
    format!("{prefix}{}", Ulid::from_parts(millis, u128::from_be_bytes(random)))
}

/// Whether `text` is a name of this kind.
#[must_use]
pub fn is(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| {
        rest.len() == 26
            && rest.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
            && Ulid::from_string(rest).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::{ITEM, SESSION, derived, is, new};

    #[test]
    fn names_rise_and_are_known_again() {
        let names: Vec<String> = (0..1000).map(|_| new(SESSION)).collect();
        assert!(names.is_sorted());
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(names.iter().all(|name| is(SESSION, name) && !is(ITEM, name)));
    }

    #[test]
    fn what_is_no_name_is_none() {
        for text in
            ["", "ses_", "ses_../../x", "ses_01ARZ3NDEKTSV4RRFFQ69G5FAv", "ses_81ARZ3NDEKTSV4RRFFQ69G5FAVX"]
        {
            assert!(!is(SESSION, text), "{text}");
        }
    }

    #[test]
    fn derived_names_depend_on_every_part() {
        let name = derived(ITEM, 1.5, &[b"ab", b"c"]);
        assert!(is(ITEM, &name));
        assert_eq!(name, derived(ITEM, 1.5, &[b"ab", b"c"]));
        assert_ne!(name, derived(ITEM, 1.5, &[b"a", b"bc"]));
    }
}
