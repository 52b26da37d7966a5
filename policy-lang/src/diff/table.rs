//! Endpoint tables of earlier releases, by fingerprint: what a compiled set of another release could speak of.
//!
//! `tables/<version>.txt` holds the fingerprint and every id of a release, and a test keeps the file of this one. A
//! release adds a file and a row here, and changes none of the older ones.

use super::Known;
use crate::endpoint::TABLE_FINGERPRINT;

/// The files, the newest first.
const TABLES: [&str; 1] = [include_str!("../../tables/0.1.0.txt")];

/// The endpoints of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Table {
    /// This tool's own.
    Own,
    /// These ids.
    Released(Vec<&'static str>),
    /// None that was released.
    Unknown,
}

impl Table {
    /// The table of that fingerprint.
    #[must_use]
    pub fn of(fingerprint: &str) -> Self {
        if fingerprint == TABLE_FINGERPRINT {
            return Self::Own;
        }
        let lines = TABLES.iter().map(|table| table.lines());
        let mut found =
            lines.filter_map(|mut lines| (lines.next() == Some(fingerprint)).then(|| lines.collect()));
        found.next().map_or(Self::Unknown, Self::Released)
    }

    /// What a comparison takes.
    #[must_use]
    pub fn known(&self) -> Known<'_> {
        match self {
            Self::Own => Known::All,
            Self::Released(ids) => Known::These(ids),
            Self::Unknown => Known::Unknown,
        }
    }
}

/// This release's own file.
#[must_use]
pub fn own() -> String {
    let ids = crate::endpoint::ENDPOINTS.iter().map(|decl| decl.name);
    std::iter::once(TABLE_FINGERPRINT).chain(ids).map(|line| format!("{line}\n")).collect()
}
