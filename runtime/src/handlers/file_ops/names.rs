//! Names as bytes on a wire of text.

use crate::guard::Kind;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;

/// A name for people, and exactly where the former is not exact.
pub(super) struct Name<'a> {
    /// What is no UTF-8 is replaced.
    pub(super) text: Cow<'a, str>,
    /// The bytes, where some were replaced.
    pub(super) base64: Option<String>,
}

impl<'a> Name<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let base64 = matches!(text, Cow::Owned(_)).then(|| STANDARD.encode(bytes));
        Self { text, base64 }
    }
}

/// The last part of a path.
pub(super) fn last(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// `relative` below the directory `dir`.
pub(super) fn below(dir: &[u8], relative: &[u8]) -> Vec<u8> {
    let dir = if dir == b"/" { b"" } else { dir };
    [dir, b"/", relative].concat()
}

/// What a kind is called.
pub(super) const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Directory => "directory",
        Kind::Symlink => "symlink",
        Kind::Special => "other",
    }
}
