//! Base64 as it streams: encoded chunk by chunk on the way out, decoded chunk by chunk on the way in.

use super::FilesError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Bytes encoded at a time: a multiple of three, so that no padding falls between chunks.
pub const CHUNK: usize = 192 * 1024;

/// Characters that `bytes` bytes take in base64, padding included.
#[must_use]
pub const fn encoded_len(bytes: u64) -> u64 {
    bytes.div_ceil(3) * 4
}

/// Encodes one chunk onto the end of `out`. All but the last must be a multiple of three bytes long.
pub fn encode(chunk: &[u8], out: &mut String) {
    STANDARD.encode_string(chunk, out);
}

/// Decodes standard base64 with padding, fed in pieces of any length. It is strict: no white space, no missing
/// padding, no stray bits behind the end.
#[derive(Debug, Default)]
pub struct Decoder {
    carry: Vec<u8>,
    padded: bool,
    out: Vec<u8>,
}

impl Decoder {
    /// Decodes a piece and hands out what is complete.
    ///
    /// # Errors
    ///
    /// [`FilesError::BadContent`] for what is no base64, or whatever `sink` answers.
    pub fn feed(
        &mut self,
        piece: &[u8],
        mut sink: impl FnMut(&[u8]) -> Result<(), FilesError>,
    ) -> Result<(), FilesError> {
        let mut piece = piece;
        while !piece.is_empty() {
            if self.carry.is_empty() && piece.len() >= 4 {
                let whole = piece.len().min(CHUNK / 3 * 4) & !3;
                let (now, rest) = piece.split_at(whole);
                self.decode(now, &mut sink)?;
                piece = rest;
            } else {
                let (now, rest) = piece.split_at((4 - self.carry.len()).min(piece.len()));
                self.carry.extend_from_slice(now);
                piece = rest;
                if self.carry.len() == 4 {
                    let four = std::mem::take(&mut self.carry);
                    self.decode(&four, &mut sink)?;
                }
            }
        }
        Ok(())
    }

    /// Ends the content.
    ///
    /// # Errors
    ///
    /// [`FilesError::BadContent`] where a group of four is not complete.
    pub fn finish(&mut self) -> Result<(), FilesError> {
        if self.carry.is_empty() { Ok(()) } else { Err(BAD) }
    }

    fn decode(
        &mut self,
        text: &[u8],
        sink: &mut impl FnMut(&[u8]) -> Result<(), FilesError>,
    ) -> Result<(), FilesError> {
        if self.padded {
            return Err(BAD);
        }
        self.padded = text.last() == Some(&b'=');
        self.out.clear();
        STANDARD.decode_vec(text, &mut self.out).map_err(|_| BAD)?;
        sink(&self.out)
    }
}

const BAD: FilesError = FilesError::BadContent("the content is not valid base64");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_cut_decodes_to_the_same_bytes(
            content in proptest::collection::vec(any::<u8>(), 0..2000),
            cuts in proptest::collection::vec(1_usize..97, 1..20),
        ) {
            let text = STANDARD.encode(&content);
            prop_assert_eq!(text.len() as u64, encoded_len(content.len() as u64));
            let mut decoder = Decoder::default();
            let mut got = Vec::new();
            let mut rest = text.as_bytes();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break; }
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                decoder.feed(now, |bytes| { got.extend_from_slice(bytes); Ok(()) }).unwrap();
                rest = later;
            }
            decoder.finish().unwrap();
            prop_assert_eq!(got, content);
        }

        #[test]
        fn agrees_with_the_library_on_what_is_wrong(text in "[A-Za-z0-9+/= ]{0,40}", cut in 1_usize..9) {
            let mut decoder = Decoder::default();
            let mut got = Vec::new();
            let done = text.as_bytes().chunks(cut)
                .try_for_each(|piece| decoder.feed(piece, |bytes| { got.extend_from_slice(bytes); Ok(()) }))
                .and_then(|()| decoder.finish());
            match STANDARD.decode(&text) {
                Ok(want) => { prop_assert!(done.is_ok()); prop_assert_eq!(got, want); }
                Err(_) => prop_assert!(done.is_err()),
            }
        }
    }
}
