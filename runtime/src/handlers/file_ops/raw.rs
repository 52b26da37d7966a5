//! A file as its own bytes: whole or a range of it, conditional, for GET and HEAD.
//!
//! The client is told to save it, never to look at it: what it is nobody has judged.

use super::intake::query_path;
use super::names;
use super::range::Range;
use super::scene::Scene;
use crate::endpoint::{Answer, Call, Reply, ReplyBody};
use crate::error::{ApiError, ErrorCode};
use crate::files::read::Download;
use crate::files::{Stop, http_date};
use axum::body::Body;
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, IF_NONE_MATCH, IF_RANGE, LAST_MODIFIED, RANGE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use bytes::Bytes;
use policy_lang::endpoint::Method;
use std::fmt::Write as _;
use tokio::sync::mpsc;

/// Bytes read at a time.
const CHUNK: usize = 256 * 1024;

/// Chunks on their way from the reading thread to the client.
const IN_FLIGHT: usize = 2;

/// Answers the file that the query names.
pub(super) async fn send(scene: Scene, call: Call) -> Answer {
    let asked = query_path(&call, &scene)?;
    let note = call.note().clone();
    let wishes = Wishes::of(&call);
    let stop = Stop::at(scene.stop().deadline());
    let answer = scene.blocking(move |scene| {
        let file = scene.open(&asked, &note)?;
        reply(file, &wishes, stop)
    });
    answer.await
}

/// What the request's headers ask for.
struct Wishes {
    head: bool,
    range: Option<String>,
    if_range: Option<String>,
    if_none_match: Option<String>,
}

impl Wishes {
    fn of(call: &Call) -> Self {
        let headers = call.headers();
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let head = call.door().method == Method::Head;
        // Ranges are defined for GET alone.
        let range = if head { None } else { text(RANGE) };
        Self { head, range, if_range: text(IF_RANGE), if_none_match: text(IF_NONE_MATCH) }
    }
}

fn reply(mut file: Download, wishes: &Wishes, stop: Stop) -> Result<Reply, ApiError> {
    let (size, etag, modified) = (file.size, tag(&file), http_date(file.modified.0));
    let mut headers = HeaderMap::with_capacity(10);
    let mut put = |name, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    put(ETAG, &etag);
    put(LAST_MODIFIED, &modified);
    put(ACCEPT_RANGES, "bytes");
    if wishes.if_none_match.as_deref().is_some_and(|known| names_tag(known, &etag)) {
        return Ok(Reply { status: StatusCode::NOT_MODIFIED, headers, body: ReplyBody::Full(Bytes::new()) });
    }
    put(CONTENT_TYPE, "application/octet-stream");
    put(CONTENT_DISPOSITION, &disposition(names::last(&file.path)));
    put(X_CONTENT_TYPE_OPTIONS, "nosniff");
    put(CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'");
    let current = wishes.if_range.as_deref().is_none_or(|known| known == etag || known == modified);
    let range = wishes.range.as_deref().filter(|_| current).and_then(|range| Range::read(range, size));
    let (status, start, length) = match range {
        None => (StatusCode::OK, 0, size),
        Some(Range::Of { first, last }) => {
            put(CONTENT_RANGE, &format!("bytes {first}-{last}/{size}"));
            (StatusCode::PARTIAL_CONTENT, first, last - first + 1)
        }
        Some(Range::Outside) => {
            let error = ApiError::new(ErrorCode::RangeNotSatisfiable, "The range lies outside of the file");
            let told = HeaderValue::from_str(&format!("bytes */{size}"));
            return Err(
                told.map_or_else(|_| ApiError::internal("No header"), |v| error.header(CONTENT_RANGE, v))
            );
        }
    };
    put(CONTENT_LENGTH, &length.to_string());
    if wishes.head || length == 0 {
        return Ok(Reply { status, headers, body: ReplyBody::Full(Bytes::new()) });
    }
    let lost = |_| ApiError::internal("The file could not be read").kind("OSError");
    if start > 0 {
        file.seek(start).map_err(lost)?;
    }
    let body = if length <= CHUNK as u64 {
        let chunk = next(&mut file, length).map_err(|_| ApiError::internal("The file could not be read"))?;
        ReplyBody::Full(chunk)
    } else {
        ReplyBody::Stream(stream(file, length, stop))
    };
    Ok(Reply { status, headers, body })
}

/// One blocking reader feeds the body; at most [`IN_FLIGHT`] chunks wait. A file that has become shorter cuts the
/// connection, so that nobody takes half of it for the whole.
fn stream(mut file: Download, length: u64, stop: Stop) -> Body {
    let (sender, receiver) = mpsc::channel(IN_FLIGHT);
    tokio::task::spawn_blocking(move || {
        let mut left = length;
        while left > 0 {
            let piece = stop.check().map_err(std::io::Error::other).and_then(|()| next(&mut file, left));
            let last = piece.is_err();
            left -= piece.as_ref().map_or(left, |piece| piece.len() as u64);
            // A closed channel: the client has left.
            if sender.blocking_send(piece).is_err() || last {
                return;
            }
        }
    });
    Body::from_stream(futures_util::stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|piece| (piece, receiver))
    }))
}

/// The next chunk of the `left` bytes.
fn next(file: &mut Download, left: u64) -> std::io::Result<Bytes> {
    let mut chunk = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK)];
    let filled = file.fill(&mut chunk).map_err(std::io::Error::other)?;
    if filled < chunk.len() {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(chunk.into())
}

/// A strong tag: another file, length or time of change is another tag.
fn tag(file: &Download) -> String {
    let ((device, inode), (seconds, nanoseconds)) = (file.identity, file.modified);
    format!("\"{device:x}-{inode:x}-{:x}-{seconds:x}.{nanoseconds:x}\"", file.size)
}

/// Whether a list of tags names this one, or every one.
fn names_tag(list: &str, etag: &str) -> bool {
    list.split(',').map(str::trim).any(|known| known == "*" || known.trim_start_matches("W/") == etag)
}

/// The header that names a download: in plain ASCII for old clients, and as it is in the form of RFC 5987.
pub(super) fn disposition(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    let plain: String = name
        .chars()
        .map(|letter| {
            if letter.is_ascii_graphic() && !"\"\\%".contains(letter) || letter == ' ' { letter } else { '_' }
        })
        .collect();
    let mut value = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''");
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
            value.push(char::from(byte));
        } else {
            let _ = write!(value, "%{byte:02X}");
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::{disposition, names_tag};

    #[test]
    fn names_are_one_well_formed_header() {
        assert_eq!(
            disposition("报告 \"final\"\r\n.txt".as_bytes()),
            "attachment; filename=\"__ _final___.txt\"; \
             filename*=UTF-8''%E6%8A%A5%E5%91%8A%20%22final%22%0D%0A.txt"
        );
    }

    #[test]
    fn tags_are_compared_weakly() {
        for (list, named) in [
            ("\"a\"", true),
            ("W/\"a\"", true),
            ("\"b\", \"a\"", true),
            ("*", true),
            ("\"b\"", false),
            ("a", false),
        ] {
            assert_eq!(names_tag(list, "\"a\""), named, "{list}");
        }
    }
}
