//! Server-sent events: how output becomes frames. All whole lines of one read leave in one piece of the body.

mod feed;
mod lines;

pub use feed::{Feed, Style};
pub use lines::Lines;
pub(crate) use lines::whole;

use bytes::Bytes;
use serde::Serialize;

/// Writes one event. The data is one line of JSON.
pub fn event<T: Serialize + ?Sized>(out: &mut Vec<u8>, name: &str, data: &T) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    let begun = out.len();
    // Only a map with keys that are no text can fail; then the event stays empty rather than cut.
    if serde_json::to_writer(&mut *out, data).is_err() {
        out.truncate(begun);
        out.extend_from_slice(b"{}");
    }
    out.extend_from_slice(b"\n\n");
}

/// A comment that keeps a silent connection open.
#[must_use]
pub fn heartbeat() -> Bytes {
    Bytes::from_static(b": still here\n\n")
}
