//! The table of artifacts.

use super::Found;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;
use serde_json::{Value, json};

/// An artifact as callers see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArtifactRow {
    /// Its number: lists are ordered by it.
    #[serde(skip)]
    pub no: i64,
    /// `art_…`
    pub artifact_id: String,
    /// Its file name, or a path beneath the outputs folder.
    pub name: String,
    /// What it is said to be.
    pub mime_type: String,
    /// Its length.
    pub bytes: i64,
    /// Its hash, in hex.
    pub sha256: String,
    /// `message`, `tool`, `outputs_dir` or `attachment`.
    pub source: String,
    /// The turn that it came in.
    pub turn_id: Option<String>,
    /// Epoch seconds.
    pub created_at: f64,
}

impl ArtifactRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            no: row.get(0)?,
            artifact_id: row.get(1)?,
            name: row.get(2)?,
            mime_type: row.get(3)?,
            bytes: row.get(4)?,
            sha256: row.get(5)?,
            source: row.get(6)?,
            turn_id: row.get(7)?,
            created_at: row.get(8)?,
        })
    }
}

const COLUMNS: &str = "no, artifact_id, name, mime_type, bytes, sha256, source, turn_id, created_at";

/// Makes an artifact of what was found; yields the data of its event, or nothing where the session has it already.
pub(in crate::agents) fn insert(
    db: &Connection,
    session: i64,
    turn_id: Option<&str>,
    found: &Found,
    ts: f64,
) -> rusqlite::Result<Option<Value>> {
    let mut insert = db.prepare_cached(
        "INSERT OR IGNORE INTO artifacts (artifact_id, session, turn_id, name, mime_type, bytes, sha256, source, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    let bytes = i64::try_from(found.bytes).unwrap_or(i64::MAX);
    let values = params![
        found.artifact_id,
        session,
        turn_id,
        found.name,
        found.mime_type,
        bytes,
        found.sha256,
        found.source.as_str(),
        ts,
    ];
    let new = insert.execute(values)? > 0;
    Ok(new.then(|| {
        json!({
            "artifact_id": found.artifact_id,
            "name": found.name,
            "mime_type": found.mime_type,
            "bytes": found.bytes,
            "sha256": found.sha256,
            "source": found.source.as_str(),
        })
    }))
}

/// Artifacts of a session in the order in which they came, behind a number.
///
/// # Errors
/// Those of the database.
pub fn list(
    db: &Connection,
    session: i64,
    turn_id: Option<&str>,
    after: i64,
    limit: i64,
) -> rusqlite::Result<Vec<ArtifactRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM artifacts WHERE session = ?1 AND no > ?2 AND (?3 IS NULL OR turn_id = ?3)
         ORDER BY no LIMIT ?4"
    );
    let mut query = db.prepare_cached(&sql)?;
    query.query_map(params![session, after, turn_id, limit], ArtifactRow::read)?.collect()
}

/// One artifact of a session.
///
/// # Errors
/// Those of the database.
pub fn find(db: &Connection, session: i64, artifact_id: &str) -> rusqlite::Result<Option<ArtifactRow>> {
    let sql = format!("SELECT {COLUMNS} FROM artifacts WHERE session = ?1 AND artifact_id = ?2");
    db.prepare_cached(&sql)?.query_row(params![session, artifact_id], ArtifactRow::read).optional()
}
