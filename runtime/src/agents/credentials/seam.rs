//! Secrets in a text that comes in pieces: the end of a piece that may begin a secret waits for the next one.

use super::Masks;
use std::borrow::Cow;

/// What of a text is held back, which is always shorter than the longest secret. A piece that ends with the beginning of
/// no secret passes at once, and as it is.
#[derive(Debug, Default)]
pub struct Seam(String);

impl Seam {
    /// The text up to the end of this piece, secrets replaced, as far as the pieces to come cannot change it.
    pub fn push<'a>(&mut self, masks: &Masks, piece: &'a str) -> Cow<'a, str> {
        if self.0.is_empty() {
            let (sure, open) = masks.begun(piece);
            open.clone_into(&mut self.0);
            return sure;
        }
        let mut text = std::mem::take(&mut self.0);
        text.push_str(piece);
        let (sure, open) = masks.begun(&text);
        open.clone_into(&mut self.0);
        Cow::Owned(sure.into_owned())
    }

    /// What is held back, for nothing more comes. Empty where it is nothing.
    pub fn end(&mut self, masks: &Masks) -> String {
        let rest = std::mem::take(&mut self.0);
        masks.mask(&rest).into_owned()
    }

    /// Whether nothing is held back.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(secrets: &[&str], pieces: &[&str]) -> Vec<String> {
        let (masks, mut seam) = (Masks::default(), Seam::default());
        secrets.iter().for_each(|secret| masks.add(secret));
        let mut said: Vec<String> =
            pieces.iter().map(|piece| seam.push(&masks, piece).into_owned()).collect();
        said.push(seam.end(&masks));
        said
    }

    #[test]
    fn a_secret_is_found_wherever_it_is_cut() {
        assert_eq!(said(&["canary"], &["a can", "ary b"]), ["a ", "*** b", ""]);
        assert_eq!(said(&["canary"], &["c", "a", "n", "a", "r", "y"]), ["", "", "", "", "", "***", ""]);
        assert_eq!(said(&["canary"], &["a can", "did b"]), ["a ", "candid b", ""]);
        assert_eq!(said(&["canary"], &["in a can"]), ["in a ", "can"]);
        assert_eq!(said(&["schlüssel"], &["schlü", "ssel"]), ["", "***", ""]);
    }

    #[test]
    fn a_secret_may_begin_like_another_or_like_itself() {
        assert_eq!(said(&["abcd", "abcdefgh"], &["abcd", "efgh"]), ["", "***", ""]);
        assert_eq!(said(&["abcd", "abcdefgh"], &["abcd", "ex"]), ["", "***ex", ""]);
        assert_eq!(said(&["abcd", "abcdefgh"], &["abcde"]), ["", "***e"]);
        assert_eq!(said(&["abab"], &["xab", "ab", "ab"]), ["x", "***", "", "ab"]);
    }

    #[test]
    fn what_begins_no_secret_passes_as_it_is() {
        let masks = Masks::default();
        masks.add("canary");
        let mut seam = Seam::default();
        assert!(matches!(seam.push(&masks, "nothing of the kind"), Cow::Borrowed("nothing of the kind")));
        assert!(seam.is_empty());
    }

    proptest! {
        #[test]
        fn pieces_say_what_the_whole_says(
            secrets in prop::collection::vec("[a-c]{4,8}", 0..4),
            pieces in prop::collection::vec("[a-cé]{0,6}", 0..12),
        ) {
            let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let whole = pieces.concat();
            let joined = said(&secrets, &pieces).concat();
            for secret in &secrets {
                prop_assert!(!joined.contains(secret));
            }
            // However it is cut, the same comes out, and where there is no secret, all of it.
            prop_assert_eq!(&joined, &said(&secrets, &[&whole]).concat());
            if secrets.iter().all(|secret| !whole.contains(secret)) {
                prop_assert_eq!(joined, whole);
            }
        }

        #[test]
        fn no_more_is_held_back_than_a_secret_is_long(
            secret in "[ab]{4,9}", pieces in prop::collection::vec("[ab]{0,9}", 0..9),
        ) {
            let (masks, mut seam) = (Masks::default(), Seam::default());
            masks.add(&secret);
            for piece in &pieces {
                seam.push(&masks, piece);
                prop_assert!(seam.0.len() < secret.len());
            }
        }
    }
}
