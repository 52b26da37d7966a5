//! Finds the token in the headers. Three spellings; two that differ are refused whichever of them is right.

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HeaderName};

const ACCESS_TOKEN: HeaderName = HeaderName::from_static("x-access-token");
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// What the headers present.
#[derive(Debug, PartialEq, Eq)]
pub enum Presented<'a> {
    /// No credential.
    Nothing,
    /// One token, perhaps in several spellings.
    Token(&'a [u8]),
    /// A credential that can be no token: another scheme than Bearer.
    Malformed,
    /// Two that differ, or a header that occurs twice.
    Ambiguous,
}

/// Reads `X-Access-Token`, `Authorization: Bearer` and `X-Api-Key`. No other place holds a token.
#[must_use]
pub fn presented(headers: &HeaderMap) -> Presented<'_> {
    let mut found = Presented::Nothing;
    for (name, read) in
        [(&ACCESS_TOKEN, plain as fn(&[u8]) -> Presented<'_>), (&AUTHORIZATION, bearer), (&API_KEY, plain)]
    {
        let mut values = headers.get_all(name).iter();
        let Some(value) = values.next() else { continue };
        if values.next().is_some() {
            return Presented::Ambiguous;
        }
        let this = read(value.as_bytes());
        if this == Presented::Ambiguous || (found != Presented::Nothing && found != this) {
            return Presented::Ambiguous;
        }
        found = this;
    }
    found
}

/// A comma joins what were two header lines: no token holds one.
fn plain(value: &[u8]) -> Presented<'_> {
    if value.contains(&b',') { Presented::Ambiguous } else { Presented::Token(value) }
}

/// The scheme's name is case-blind; one blank and nothing else stands between it and the token.
fn bearer(value: &[u8]) -> Presented<'_> {
    match value.split_at_checked(7) {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"bearer ") => plain(token),
        _ => Presented::Malformed,
    }
}

#[cfg(test)]
mod tests {
    use super::{Presented, presented};
    use axum::http::{HeaderMap, HeaderName, HeaderValue};

    #[test]
    fn spellings() {
        let table: &[(&[(&str, &str)], Presented<'_>)] = &[
            (&[], Presented::Nothing),
            (&[("x-access-token", "A")], Presented::Token(b"A")),
            (&[("x-api-key", "A")], Presented::Token(b"A")),
            (&[("authorization", "bEARER A")], Presented::Token(b"A")),
            (&[("authorization", "Bearer\tA")], Presented::Malformed),
            (&[("authorization", "Bearer  A")], Presented::Token(b" A")),
            (&[("authorization", "Basic QTpC")], Presented::Malformed),
            (&[("authorization", "A")], Presented::Malformed),
            (&[("cookie", "token=A")], Presented::Nothing),
            (
                &[("x-access-token", "A"), ("authorization", "Bearer A"), ("x-api-key", "A")],
                Presented::Token(b"A"),
            ),
            (&[("x-access-token", "A"), ("authorization", "Bearer B")], Presented::Ambiguous),
            (&[("x-access-token", "A"), ("authorization", "Basic A")], Presented::Ambiguous),
            (&[("authorization", "Bearer A"), ("x-api-key", "B")], Presented::Ambiguous),
            (&[("x-access-token", "A"), ("x-access-token", "A")], Presented::Ambiguous),
            (&[("x-access-token", "A, B")], Presented::Ambiguous),
        ];
        for (lines, right) in table {
            let mut headers = HeaderMap::new();
            for (name, value) in *lines {
                headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            assert_eq!(presented(&headers), *right, "{lines:?}");
        }
    }
}
