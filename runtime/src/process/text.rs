//! Output as text: the same stream counted twice, in bytes as they came and in bytes of the text that they decode to.
//!
//! A transport of text frames replaces what is no UTF-8, and a replaced byte is three bytes long. Its readers count the
//! text, readers of bytes count the bytes, and both may come back to one command. [`Lane`] keeps the two counts in step
//! up to the oldest byte that is still kept, so that only kept bytes are ever looked at again.

use crate::sse::whole;
use std::borrow::Cow;

/// Both counts at one place of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lane {
    /// Bytes of the stream so far.
    raw: u64,
    /// Bytes of the text so far, without what `pending` may become.
    text: u64,
    /// The beginning of a character whose end lies behind `raw`.
    pending: Vec<u8>,
}

impl Lane {
    /// Goes on over the bytes that follow.
    pub fn advance(&mut self, bytes: &[u8]) {
        self.raw += bytes.len() as u64;
        if self.pending.is_empty() {
            let (ready, rest) = bytes.split_at_checked(whole(bytes)).unwrap_or((bytes, &[]));
            self.text += length(ready);
            self.pending.extend_from_slice(rest);
            return;
        }
        self.pending.extend_from_slice(bytes);
        let ready = whole(&self.pending);
        let rest = self.pending.split_off(ready);
        self.text += length(&self.pending);
        self.pending = rest;
    }

    /// A decoder that begins at the first character at or behind the text offset `wanted`, and the byte offset from
    /// which it wants to be fed. `kept` are the bytes that follow; `ended` says that no more will come. `None` where
    /// `wanted` lies behind all of them. What is no longer kept is passed over.
    #[must_use]
    pub fn seek(&self, wanted: u64, kept: &[u8], ended: bool) -> Option<(Decoder, u64)> {
        let mut bytes = self.pending.clone();
        bytes.extend_from_slice(kept);
        let ready = if ended { bytes.len() } else { whole(&bytes) };
        let (mut at, mut text) = (0, self.text);
        for chunk in bytes.get(..ready).unwrap_or_default().utf8_chunks() {
            for character in chunk.valid().chars() {
                if text >= wanted {
                    break;
                }
                at += character.len_utf8();
                text += character.len_utf8() as u64;
            }
            if text >= wanted {
                break;
            }
            at += chunk.invalid().len();
            text += if chunk.invalid().is_empty() { 0 } else { REPLACEMENT };
        }
        if text < wanted {
            return None;
        }
        let carry = self.pending.get(at..).unwrap_or_default().to_vec();
        let feed_from = self.raw + at.saturating_sub(self.pending.len()) as u64;
        Some((Decoder { carry, text }, feed_from))
    }
}

/// Turns the bytes of a stream into text, piece by piece, never cutting a character.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    carry: Vec<u8>,
    text: u64,
}

impl Decoder {
    /// The text that these bytes complete, and its offset; none while nothing is complete. Borrowed where nothing was held
    /// back and all of it is text.
    pub fn feed<'b>(&mut self, bytes: &'b [u8]) -> Option<(u64, Cow<'b, str>)> {
        if self.carry.is_empty() {
            let (ready, rest) = bytes.split_at_checked(whole(bytes)).unwrap_or((bytes, &[]));
            self.carry.extend_from_slice(rest);
            return self.place(String::from_utf8_lossy(ready));
        }
        self.carry.extend_from_slice(bytes);
        let ready = whole(&self.carry);
        let rest = self.carry.split_off(ready);
        let text = self.take();
        self.carry = rest;
        text
    }

    /// What is left when nothing more will come.
    pub fn finish(&mut self) -> Option<(u64, Cow<'static, str>)> {
        self.take()
    }

    /// The offset of the text that it will give next.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.text
    }

    /// How many bytes it holds back.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.carry.len() as u64
    }

    fn take(&mut self) -> Option<(u64, Cow<'static, str>)> {
        let bytes = std::mem::take(&mut self.carry);
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        self.place(Cow::Owned(text))
    }

    /// Counts the text, unless there is none.
    fn place<'b>(&mut self, text: Cow<'b, str>) -> Option<(u64, Cow<'b, str>)> {
        let at = self.text;
        self.text += text.len() as u64;
        (!text.is_empty()).then_some((at, text))
    }
}

/// Bytes of U+FFFD.
const REPLACEMENT: u64 = 3;

/// Bytes of the text that these bytes decode to.
fn length(bytes: &[u8]) -> u64 {
    // What is text as it stands is counted many times as fast.
    if std::str::from_utf8(bytes).is_ok() {
        return bytes.len() as u64;
    }
    bytes
        .utf8_chunks()
        .map(|chunk| chunk.valid().len() as u64 + if chunk.invalid().is_empty() { 0 } else { REPLACEMENT })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::{Decoder, Lane};
    use proptest::prelude::*;

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let text = "[a-z€😀é]{0,6}".prop_map(String::into_bytes);
        let junk = proptest::collection::vec(any::<u8>(), 0..6);
        proptest::collection::vec(prop_oneof![text, junk], 0..8).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn pieces_decode_to_what_the_whole_decodes_to(bytes in bytes(), size in 1_usize..5) {
            let mut decoder = Decoder::default();
            let mut text = String::new();
            for piece in bytes.chunks(size) {
                if let Some((at, more)) = decoder.feed(piece) {
                    prop_assert_eq!(at, text.len() as u64);
                    text.push_str(&more);
                }
            }
            text.extend(decoder.finish().map(|(_, more)| more));
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn a_reader_comes_back_at_any_character_wherever_the_bytes_were_freed(
            bytes in bytes(), freed in 0_usize..40, pick in any::<prop::sample::Index>(),
        ) {
            let whole = String::from_utf8_lossy(&bytes).into_owned();
            let freed = freed.min(bytes.len());
            let mut lane = Lane::default();
            lane.advance(&bytes[..freed]);
            let places: Vec<usize> = whole.char_indices().map(|(at, _)| at).chain([whole.len()]).collect();
            let wanted = places[pick.index(places.len())] as u64;
            let (mut decoder, from) = lane.seek(wanted, &bytes[freed..], true).unwrap();
            prop_assert!(from >= freed as u64);
            let mut rest = String::new();
            let mut begins = None;
            let fed = decoder.feed(&bytes[usize::try_from(from).unwrap()..]);
            for (at, more) in fed.into_iter().chain(decoder.finish()) {
                begins.get_or_insert(at);
                rest.push_str(&more);
            }
            let begins = begins.unwrap_or(whole.len() as u64);
            // What was freed is passed over; nothing else is.
            prop_assert!(begins == wanted || begins > wanted && wanted < lane.text);
            prop_assert_eq!(rest, whole.get(usize::try_from(begins).unwrap()..).unwrap());
            prop_assert!(lane.seek(whole.len() as u64 + 1, &bytes[freed..], true).is_none());
        }
    }
}
