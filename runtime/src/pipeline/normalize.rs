//! Step 1: the request target. Origin form only; one trailing `/` or several are stripped; nothing is decoded.
//!
//! A route is matched byte for byte, so whatever could be spelled in two ways is refused here rather than resolved.

use crate::error::{ApiError, ErrorCode};
use crate::http::MAX_HEAD_BYTES;
use axum::http::request::Parts;
use axum::http::uri::Uri;
use axum::http::{HeaderName, HeaderValue};

/// A request target in normal form.
#[derive(Debug, Clone)]
pub struct Target {
    uri: Uri,
    end: usize,
}

impl Target {
    /// The path without trailing slashes; at least `/`.
    #[must_use]
    pub fn path(&self) -> &str {
        self.uri.path().get(..self.end).unwrap_or("/")
    }

    /// What stands after `?`.
    #[must_use]
    pub fn query(&self) -> &str {
        self.uri.query().unwrap_or("")
    }
}

/// Bounds the head. The HTTP library bounds what it buffers, which may be one read more than a head may have.
///
/// # Errors
/// 431 `headers_too_large`.
pub(super) fn head(parts: &Parts) -> Result<(), ApiError> {
    let line =
        |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + ": \r\n".len();
    let target = parts.uri.path().len() + parts.uri.query().map_or(0, str::len);
    let bytes = target + parts.headers.iter().map(line).sum::<usize>();
    if bytes <= MAX_HEAD_BYTES {
        return Ok(());
    }
    let message = format!("The head of the request is larger than {MAX_HEAD_BYTES} bytes");
    Err(ApiError::new(ErrorCode::HeadersTooLarge, message).with("limit", MAX_HEAD_BYTES))
}

/// Brings the target into normal form.
///
/// # Errors
/// 400 `invalid_path` for another form than the origin form, `//`, `\`, `;` and encoded `/`, `.`, `\` or NUL.
pub fn target(uri: &Uri) -> Result<Target, ApiError> {
    let origin_form = uri.scheme().is_none() && uri.authority().is_none() && uri.path().starts_with('/');
    let trimmed = uri.path().trim_end_matches('/');
    let end = trimmed.len().max(1);
    if !origin_form || !trimmed.is_empty() && is_ambiguous(trimmed.as_bytes()) {
        return Err(ApiError::new(ErrorCode::InvalidPath, "The request target is not a plain path"));
    }
    Ok(Target { uri: uri.clone(), end })
}

fn is_ambiguous(path: &[u8]) -> bool {
    let suspicious = memchr::memchr3(b'%', b'\\', b';', path).is_some();
    let doubled = path.windows(2).any(|pair| pair == b"//");
    doubled
        || suspicious && path.windows(3).any(is_encoded_separator)
        || memchr::memchr2(b'\\', b';', path).is_some()
}

fn is_encoded_separator(triple: &[u8]) -> bool {
    matches!(triple, [b'%', b'2', b'f' | b'F' | b'e' | b'E'] | [b'%', b'5', b'c' | b'C'] | [b'%', b'0', b'0'])
}

#[cfg(test)]
mod tests {
    use super::target;
    use axum::http::Uri;

    #[test]
    fn trailing_slashes_are_stripped() {
        for (given, path, query) in [
            ("/health/", "/health", ""),
            ("/health///?a=b", "/health", "a=b"),
            ("/", "/", ""),
            ("/a?b/", "/a", "b/"),
        ] {
            let target = target(&given.parse::<Uri>().unwrap()).unwrap();
            assert_eq!((target.path(), target.query()), (path, query), "{given}");
        }
    }

    #[test]
    fn what_could_be_spelled_twice_is_refused() {
        for given in [
            "http://other/health",
            "*",
            "other:80",
            "/shell//x",
            "//evil/health",
            "/a;b",
            "/a\\b",
            "/files%2flist",
            "/files%2Flist",
            "/a/%2e%2e/b",
            "/a%5Cb",
            "/a%00",
        ] {
            let uri = given.parse::<Uri>();
            assert!(uri.is_err() || target(&uri.unwrap()).is_err(), "{given}");
        }
    }
}
