//! Files that a command reads and writes.

mod write;

pub(super) use write::{overwrites, put};

use super::failure::Failure;
use crate::boot::read;
use std::path::Path;

/// How messages call standard input.
pub(super) const STDIN: &str = "<stdin>";

/// Reads a document or a set, no further than one may be long; `-` is standard input. Gives the name that messages use.
pub(super) fn document(name: &str) -> Result<(&str, Vec<u8>), Failure> {
    let (name, bytes) = match name {
        "-" => (STDIN, read::stream(std::io::stdin().lock())),
        name => (name, read::file(Path::new(name))),
    };
    bytes.map(|bytes| (name, bytes)).map_err(|error| Failure::read(name, &error))
}

/// The difference of two texts as a patch that `patch` and `git apply` take.
pub(super) fn patch(name: &str, before: &str, after: &str) -> String {
    let (old, new) = (format!("a/{name}"), format!("b/{name}"));
    similar::TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .header(&old, &new)
        .to_string()
}
