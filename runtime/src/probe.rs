//! Parsers of the server as fuzzers and property tests reach them. Nothing else should: each is a part of the room that it
//! lies in, and may change with it.

use bytes::Bytes;
use serde_json::Value;

/// The first and last byte that a `Range` header asks of a file; `Some(None)` where they lie outside of it, `None` where
/// the whole file is the answer.
#[must_use]
pub fn range(text: &str, size: u64) -> Option<Option<(u64, u64)>> {
    crate::handlers::file_ops::probe::range(text, size)
}

/// The `Content-Disposition` of a download of this name.
#[must_use]
pub fn disposition(name: &[u8]) -> String {
    crate::handlers::file_ops::probe::disposition(name)
}

/// The content of a multipart upload that arrived in these pieces; none where it is not one whole file.
pub async fn multipart(pieces: Vec<Bytes>, boundary: &str) -> Option<Vec<u8>> {
    crate::handlers::file_ops::probe::taken_apart(pieces, boundary).await
}

/// The messages of a worker that arrived in these pieces, and whether the stream was still sound at its end.
#[must_use]
pub fn worker_messages(pieces: &[&[u8]]) -> (Vec<Value>, bool) {
    crate::commands::worker_messages(pieces)
}

/// A message to a worker as it is sent; none where it is too long.
#[must_use]
pub fn worker_message(message: &Value) -> Option<Vec<u8>> {
    crate::commands::worker_message(message)
}

/// How many listeners a table of `/proc/net` names.
#[must_use]
pub fn listeners(table: &str) -> usize {
    crate::system::ports::parse(table).len()
}
