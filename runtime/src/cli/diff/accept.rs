//! The accept file as it is found, and the day on which it is read.

use crate::boot::read;
use crate::cli::failure::Failure;
use policy_lang::diff::accept::{self, Entry, Fault};
use policy_lang::source::SourceMap;
use std::path::Path;

/// An accept file.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) sources: SourceMap,
    pub(super) entries: Vec<Entry>,
    pub(super) faults: Vec<Fault>,
}

pub(super) fn accepted(name: &str) -> Result<File, Failure> {
    let bytes = read::file(Path::new(name)).map_err(|error| Failure::read(name, &error))?;
    let mut sources = SourceMap::new();
    let (entries, faults) = accept::read(&mut sources, name, bytes);
    Ok(File { sources, entries, faults })
}

/// Today in UTC, `YYYY-MM-DD`.
pub(super) fn today() -> String {
    time::OffsetDateTime::now_utc().date().to_string()
}
