//! Messages over a pipe: four bytes of length, big-endian, then that much JSON.

use serde::Serialize;
use serde_json::Value;

/// Longest message, in bytes; the worker has the same bound.
pub(super) const MAX_FRAME: usize = 64 << 20;

/// Bytes of the length.
const HEAD: usize = 4;

/// What came is no message. Nothing after it can be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::commands) enum FrameError {
    /// It says that it is longer than any message may be.
    #[error("a message of {0} bytes")]
    TooLong(usize),
    /// It is no JSON.
    #[error("a message that is no JSON: {0}")]
    Json(String),
}

/// The bytes of a message.
///
/// # Errors
/// It is too long, or cannot be written as JSON.
pub(in crate::commands) fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let mut bytes = vec![0; HEAD];
    serde_json::to_writer(&mut bytes, message).map_err(|error| FrameError::Json(error.to_string()))?;
    let length = bytes.len() - HEAD;
    let head = u32::try_from(length).ok().filter(|_| length <= MAX_FRAME);
    let head = head.ok_or(FrameError::TooLong(length))?.to_be_bytes();
    bytes.iter_mut().zip(head).for_each(|(byte, head)| *byte = head);
    Ok(bytes)
}

/// Gathers messages from pieces that end anywhere.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    bytes: Vec<u8>,
    /// How much of `bytes` has been handed out.
    taken: usize,
}

impl Decoder {
    /// Takes a piece.
    pub(super) fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
    }

    /// The next whole message, if there is one.
    ///
    /// # Errors
    /// What came is no message.
    pub(super) fn next(&mut self) -> Result<Option<Value>, FrameError> {
        let rest = self.bytes.get(self.taken..).unwrap_or_default();
        let Some((head, rest)) = rest.split_first_chunk::<HEAD>() else {
            self.forget();
            return Ok(None);
        };
        let length = u32::from_be_bytes(*head) as usize;
        if length > MAX_FRAME {
            return Err(FrameError::TooLong(length));
        }
        let Some(text) = rest.get(..length) else {
            self.forget();
            return Ok(None);
        };
        let message = serde_json::from_slice(text).map_err(|error| FrameError::Json(error.to_string()));
        self.taken += HEAD + length;
        message.map(Some)
    }

    /// Drops what has been handed out.
    fn forget(&mut self) {
        self.bytes.drain(..self.taken.min(self.bytes.len()));
        self.taken = 0;
    }
}

/// The messages in these pieces, and whether the stream was sound to its end. For fuzzers.
pub(in crate::commands) fn messages(pieces: &[&[u8]]) -> (Vec<Value>, bool) {
    let (mut decoder, mut found) = (Decoder::default(), Vec::new());
    for piece in pieces {
        decoder.push(piece);
        loop {
            match decoder.next() {
                Ok(Some(message)) => found.push(message),
                Ok(None) => break,
                Err(_) => return (found, false),
            }
        }
    }
    (found, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;

    fn all(decoder: &mut Decoder) -> Vec<Value> {
        std::iter::from_fn(|| decoder.next().unwrap()).collect()
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let mut decoder = Decoder::default();
        decoder.push(b"prin");
        assert_eq!(decoder.next(), Err(FrameError::TooLong(0x7072_696e)));
        let mut decoder = Decoder::default();
        decoder.push(b"\0\0\0\x01{");
        assert!(matches!(decoder.next(), Err(FrameError::Json(_))));
    }

    proptest! {
        #[test]
        fn messages_come_out_as_they_went_in(texts in vec(".{0,30}", 0..6), cuts in vec(1_usize..20, 1..40)) {
            let messages: Vec<Value> = texts.iter().map(|text| json!({"id": 1, "text": text})).collect();
            let bytes: Vec<u8> = messages.iter().flat_map(|message| encode(message).unwrap()).collect();
            let (mut decoder, mut found, mut rest) = (Decoder::default(), Vec::new(), bytes.as_slice());
            for cut in cuts.iter().cycle() {
                let (piece, after) = rest.split_at(rest.len().min(*cut));
                decoder.push(piece);
                found.extend(all(&mut decoder));
                rest = after;
                if rest.is_empty() { break; }
            }
            prop_assert_eq!(found, messages);
        }

        #[test]
        fn any_bytes_are_read_or_refused(pieces in vec(vec(any::<u8>(), 0..40), 0..8)) {
            let mut decoder = Decoder::default();
            for piece in pieces {
                decoder.push(&piece);
                while let Ok(Some(_)) = decoder.next() {}
            }
        }
    }
}
