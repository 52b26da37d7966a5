//! Query parameters: `application/x-www-form-urlencoded`, decoded exactly once, names unique.
//!
//! Values are bytes, because file names are: what is no UTF-8 can still name a file, and is refused only where text is asked.

use crate::error::{ApiError, ErrorCode};

/// The parameters of a request, in written order.
#[derive(Debug, Default)]
pub struct Query(Vec<(Vec<u8>, Vec<u8>)>);

impl Query {
    /// Every parameter, as text.
    pub fn pairs(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.0.iter().map(move |(name, value)| (text(name), text(value)))
    }

    /// Splits and decodes the part after `?`.
    ///
    /// # Errors
    /// 400 `duplicate_parameter` where a decoded name occurs twice.
    pub fn parse(raw: &str) -> Result<Self, ApiError> {
        let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for piece in raw.split('&').filter(|piece| !piece.is_empty()) {
            let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
            let name = decode(name, true);
            if pairs.iter().any(|(seen, _)| *seen == name) {
                let name = String::from_utf8_lossy(&name).into_owned();
                let message = format!("Query parameter occurs more than once: {name}");
                return Err(ApiError::new(ErrorCode::DuplicateParameter, message).with("parameter", name));
            }
            pairs.push((name, decode(value, true)));
        }
        Ok(Self(pairs))
    }

    /// The value's bytes.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(seen, _)| seen == name.as_bytes()).map(|(_, value)| value.as_slice())
    }

    /// The value's bytes, which must be there and not be empty.
    ///
    /// # Errors
    /// 400 `missing_parameter`.
    pub fn required_bytes(&self, name: &str) -> Result<&[u8], ApiError> {
        self.bytes(name).filter(|value| !value.is_empty()).ok_or_else(|| ApiError::missing(name))
    }

    /// The value as text.
    ///
    /// # Errors
    /// 400 `invalid_parameter` where it is no UTF-8.
    pub fn text(&self, name: &str) -> Result<Option<&str>, ApiError> {
        let Some(value) = self.bytes(name) else { return Ok(None) };
        std::str::from_utf8(value)
            .map(Some)
            .map_err(|_| ApiError::invalid(name, format!("{name} must be UTF-8 text")))
    }

    /// The value as text, which must be there and not be empty.
    ///
    /// # Errors
    /// 400 `missing_parameter` or `invalid_parameter`.
    pub fn required(&self, name: &str) -> Result<&str, ApiError> {
        self.text(name)?.filter(|value| !value.is_empty()).ok_or_else(|| ApiError::missing(name))
    }

    /// `true`/`1`/`yes` or `false`/`0`/`no` in any case, or `default` where it is absent or empty.
    ///
    /// # Errors
    /// 400 `invalid_parameter`.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool, ApiError> {
        match self.text(name)?.map(str::to_ascii_lowercase).as_deref() {
            None | Some("") => Ok(default),
            Some("true" | "1" | "yes") => Ok(true),
            Some("false" | "0" | "no") => Ok(false),
            Some(_) => Err(ApiError::invalid(name, format!("{name} must be true or false"))),
        }
    }

    /// A whole number that is not negative.
    ///
    /// # Errors
    /// 400 `invalid_parameter`.
    pub fn count(&self, name: &str) -> Result<Option<u64>, ApiError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        // `parse` alone would take a sign.
        if text.bytes().all(|byte| byte.is_ascii_digit())
            && let Ok(number) = text.parse()
        {
            return Ok(Some(number));
        }
        Err(ApiError::invalid(name, format!("{name} must be a non-negative integer")))
    }
}

/// Percent-decodes once; an escape that is none stays as it is. In a query `+` is a blank.
pub(crate) fn decode(text: &str, plus_is_blank: bool) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'%', [high, low, others @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                decoded.push(hex(*high) << 4 | hex(*low));
                rest = others;
            }
            (b'+', _) if plus_is_blank => decoded.push(b' '),
            _ => decoded.push(byte),
        }
    }
    decoded
}

/// The value of a hex digit.
pub(crate) fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{Query, decode};

    #[test]
    fn decodes_once() {
        for (raw, decoded) in [
            ("%252e%252e%2f", b"%2e%2e/".as_slice()),
            ("..%c0%af", b"..\xc0\xaf"),
            ("%u002e", b"%u002e"),
            ("a+b%2B", b"a b+"),
            ("%4", b"%4"),
        ] {
            assert_eq!(decode(raw, true), decoded, "{raw}");
        }
    }

    #[test]
    fn a_name_spelled_two_ways_is_still_twice() {
        let error = Query::parse("path=a&p%61th=b").unwrap_err();
        assert_eq!(error.code().as_str(), "duplicate_parameter");
    }

    #[test]
    fn text_is_asked_for_only_where_it_is_needed() {
        let query = Query::parse("path=a%ff&limit=10&recursive=True").unwrap();
        assert_eq!(query.bytes("path"), Some(b"a\xff".as_slice()));
        assert!(query.text("path").is_err());
        assert_eq!(query.count("limit").unwrap(), Some(10));
        assert!(query.flag("recursive", false).unwrap());
        assert!(query.required("absent").is_err());
    }
}
