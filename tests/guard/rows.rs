//! The rows of `table.txt`, for those who run it: over the services and over the wire.

use std::path::Path;

/// The path of a row; none in a comment.
pub(crate) fn path_of(line: &str) -> Option<&str> {
    (!line.is_empty() && !line.starts_with('#')).then(|| line.split(" | ").next().unwrap_or(line))
}

/// The bytes of a path: `\xNN` is one, and `{T}` the directory that holds the base.
pub(crate) fn unescape(written: &str, top: &Path) -> Vec<u8> {
    let text = written.replace("{T}", top.to_str().unwrap());
    let text = if text == "(empty)" { "" } else { &text };
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        match (byte, after) {
            (b'\\', [b'x', high, low, after @ ..]) => {
                let digits = [*high, *low];
                out.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
                rest = after;
            }
            (byte, after) => {
                out.push(*byte);
                rest = after;
            }
        }
    }
    out
}
