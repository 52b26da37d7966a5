//! One signed request to a webhook.
//!
//! `X-Signature` is `sha256=` and, in hex, the HMAC-SHA256 of `X-Timestamp`, a dot and the body. Who checks it should
//! refuse a timestamp that is long gone, and a `X-Delivery-Id` that has come before.

use std::time::{Duration, Instant};

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use bytes::Bytes;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;

use crate::egress::{EgressError, Judge, Request, send};

/// How long the other end may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What came of a request.
#[derive(Debug)]
pub struct Tried {
    /// The status, or why there is none.
    pub answer: Result<u16, EgressError>,
    /// How long it took, in milliseconds.
    pub ms: i64,
}

/// Posts `body`. `now` is in epoch seconds.
pub async fn post(
    judge: &Judge,
    url: &str,
    secret: Option<&str>,
    delivery_id: &str,
    body: &str,
    now: f64,
) -> Tried {
    #[expect(clippy::cast_possible_truncation, reason = "a time")]
    let timestamp = (now as i64).to_string();
    let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    let mut own = |name: &'static str, value: &str| {
        // Digits, hex and ids: always a header's value.
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    own("x-delivery-id", delivery_id);
    own("x-timestamp", &timestamp);
    if let Some(signature) = secret.and_then(|secret| sign(secret, &timestamp, body)) {
        own("x-signature", &format!("sha256={signature}"));
    }
    let began = Instant::now();
    let body = Bytes::copy_from_slice(body.as_bytes());
    let request = Request { method: Method::POST, url, headers, body, time: PATIENCE };
    // What the other end says beside its status does not matter.
    let answer = send(judge, request).await.map(|answer| answer.status.as_u16());
    Tried { answer, ms: i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX) }
}

/// The signature, in hex.
#[must_use]
pub fn sign(secret: &str, timestamp: &str, body: &str) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(timestamp.as_bytes());
    mac.update(b".");
    mac.update(body.as_bytes());
    Some(mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_signature_is_that_of_every_other_implementation() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret
        let wanted = "49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686";
        assert_eq!(super::sign("secret", "1700000000", "{\"a\":1}").unwrap(), wanted);
    }
}
