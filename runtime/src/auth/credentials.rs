//! Finds the token in the headers. Three spellings; two that differ are refused whichever of them is right.
//!
//! A web page can set no header on a WebSocket, only offer subprotocols. For it there is a fourth spelling: the subprotocol
//! `bearer.` and the token in base64url, beside the subprotocol [`SOCKET`], which alone is answered.

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HeaderName, ORIGIN, SEC_WEBSOCKET_PROTOCOL};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::borrow::Cow;

const ACCESS_TOKEN: HeaderName = HeaderName::from_static("x-access-token");
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The subprotocol that a socket of ours speaks: a page that offers a token offers it too, as browsers want an answer.
pub const SOCKET: &str = "abx";

/// What stands before a token among the subprotocols.
const BEARER: &str = "bearer.";

/// What the headers present.
#[derive(Debug, PartialEq, Eq)]
pub enum Presented<'a> {
    /// No credential.
    Nothing,
    /// One token, perhaps in several spellings.
    Token(Cow<'a, [u8]>),
    /// A credential that can be no token: another scheme than Bearer.
    Malformed,
    /// Two that differ, or a header that occurs twice.
    Ambiguous,
}

/// Reads `X-Access-Token`, `Authorization: Bearer` and `X-Api-Key`, and of a page the subprotocols. No other place holds a
/// token. Whether the page may ask at all has been judged by its origin.
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
    match offered(headers) {
        Presented::Nothing => found,
        this if found == Presented::Nothing || found == this => this,
        _ => Presented::Ambiguous,
    }
}

/// The token among the subprotocols that a page offers.
fn offered(headers: &HeaderMap) -> Presented<'_> {
    // Programs set headers; only a page has no other way.
    if !headers.contains_key(ORIGIN) {
        return Presented::Nothing;
    }
    let lists = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let names = lists.filter_map(|list| list.to_str().ok()).flat_map(|list| list.split(','));
    let mut tokens = names.filter_map(|name| name.trim().strip_prefix(BEARER));
    let Some(token) = tokens.next() else { return Presented::Nothing };
    if tokens.next().is_some() {
        return Presented::Ambiguous;
    }
    URL_SAFE_NO_PAD.decode(token).map_or(Presented::Malformed, |token| Presented::Token(Cow::Owned(token)))
}

/// A comma joins what were two header lines: no token holds one.
fn plain(value: &[u8]) -> Presented<'_> {
    if value.contains(&b',') { Presented::Ambiguous } else { Presented::Token(Cow::Borrowed(value)) }
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
    use std::borrow::Cow;

    fn token(text: &str) -> Presented<'_> {
        Presented::Token(Cow::Borrowed(text.as_bytes()))
    }

    #[test]
    fn spellings() {
        let page = ("origin", "https://page.example");
        let table: &[(&[(&str, &str)], Presented<'_>)] = &[
            (&[], Presented::Nothing),
            (&[("x-access-token", "A")], token("A")),
            (&[("x-api-key", "A")], token("A")),
            (&[("authorization", "bEARER A")], token("A")),
            (&[("authorization", "Bearer\tA")], Presented::Malformed),
            (&[("authorization", "Bearer  A")], token(" A")),
            (&[("authorization", "Basic QTpC")], Presented::Malformed),
            (&[("authorization", "A")], Presented::Malformed),
            (&[("cookie", "token=A")], Presented::Nothing),
            (&[("x-access-token", "A"), ("authorization", "Bearer A"), ("x-api-key", "A")], token("A")),
            (&[("x-access-token", "A"), ("authorization", "Bearer B")], Presented::Ambiguous),
            (&[("x-access-token", "A"), ("authorization", "Basic A")], Presented::Ambiguous),
            (&[("authorization", "Bearer A"), ("x-api-key", "B")], Presented::Ambiguous),
            (&[("x-access-token", "A"), ("x-access-token", "A")], Presented::Ambiguous),
            (&[("x-access-token", "A, B")], Presented::Ambiguous),
            (&[page, ("sec-websocket-protocol", "abx, bearer.QQ")], token("A")),
            (&[page, ("sec-websocket-protocol", "abx"), ("sec-websocket-protocol", "bearer.QQ")], token("A")),
            (&[page, ("sec-websocket-protocol", "bearer.QQ"), ("x-api-key", "A")], token("A")),
            (&[page, ("sec-websocket-protocol", "bearer.QQ"), ("x-api-key", "B")], Presented::Ambiguous),
            (&[page, ("sec-websocket-protocol", "bearer.QQ, bearer.QQ")], Presented::Ambiguous),
            (&[page, ("sec-websocket-protocol", "bearer.QQ==")], Presented::Malformed),
            (&[page, ("sec-websocket-protocol", "abx")], Presented::Nothing),
            (&[("sec-websocket-protocol", "abx, bearer.QQ")], Presented::Nothing),
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
