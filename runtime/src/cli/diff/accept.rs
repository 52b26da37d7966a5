//! The accept file as it is found, and the day on which it is read.

use crate::cli::Exit;
use crate::cli::check_config::Failure;
use policy_lang::diff::accept::{self, Entry, Fault};
use policy_lang::source::SourceMap;

/// An accept file.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) sources: SourceMap,
    pub(super) entries: Vec<Entry>,
    pub(super) faults: Vec<Fault>,
}

pub(super) fn read(name: &str) -> Result<File, Failure> {
    let bytes = std::fs::read(name).map_err(|error| Failure {
        exit: Exit::Unreadable,
        message: format!("cannot read `{name}`: {error}"),
    })?;
    let mut sources = SourceMap::new();
    let (entries, faults) = accept::read(&mut sources, name, bytes);
    Ok(File { sources, entries, faults })
}

/// Today in UTC, `YYYY-MM-DD`.
pub(super) fn today() -> String {
    time::OffsetDateTime::now_utc().date().to_string()
}
