//! Making a bundle.

use super::table::{ARTIFACTS, TABLES};
use super::{BundleError, FORMAT, VERSION, points};
use crate::agents::artifacts;
use crate::agents::credentials::Masks;
use crate::agents::store::sessions::SessionRow;
use crate::app::App;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};
use std::sync::Arc;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// How much more an archive may unpack to than it may be long: a bound on memory, for texts that repeat themselves.
const RATIO: usize = 10;

/// A bundle of a session, of at most so many bytes. With `redact`, known secrets are masked.
///
/// # Errors
/// That it would be larger, or that something of it cannot be read.
pub async fn pack(
    app: &Arc<App>,
    session: &SessionRow,
    redact: bool,
    most: usize,
) -> Result<Vec<u8>, BundleError> {
    let store = app.agents.store().await?;
    let no = session.no;
    let read =
        store.read(move |db| TABLES.iter().map(|table| table.rows(db, no)).collect::<Result<Vec<_>, _>>());
    let mut tables = read.await?;
    let mut row = head(session);
    if redact {
        tables.iter_mut().flatten().for_each(|row| mask(&app.agents.masks, row));
        mask(&app.agents.masks, &mut row);
    }
    let mut archive = Archive::new(most);
    archive.add("session.json", Value::Object(row).to_string().as_bytes())?;
    for (table, rows) in TABLES.iter().zip(&tables) {
        archive.add(&table.entry(), &lines(rows))?;
    }
    let at = TABLES.iter().position(|table| table.name == ARTIFACTS.name).unwrap_or_default();
    let hashes = tables.get(at).into_iter().flatten().filter_map(|row| row.get("sha256")?.as_str());
    let mut hashes: Vec<&str> = hashes.collect();
    hashes.sort_unstable();
    hashes.dedup();
    for hash in hashes {
        let bytes = artifacts::bytes(store.place(), hash).await?;
        archive.add(&format!("blobs/{hash}"), &bytes)?;
    }
    points::pack(app, session, &mut archive).await?;
    archive.finish()
}

/// What of a session's own row travels.
fn head(session: &SessionRow) -> Map<String, Value> {
    let value = json!({
        "session_id": session.session_id,
        "agent_id": session.agent_id,
        "native_session_id": session.native_session_id,
        "cwd": session.cwd,
        "title": session.title,
        "labels": session.labels,
        "details": session.details,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "first_seq": session.first_seq,
        "last_seq": session.last_seq,
    });
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Masks secrets in texts, and in JSON that a text holds.
fn mask(masks: &Masks, row: &mut Map<String, Value>) {
    for value in row.values_mut() {
        match value {
            Value::String(text) => match serde_json::from_str::<Value>(text) {
                Ok(mut inner) if inner.is_object() || inner.is_array() => {
                    let before = inner.clone();
                    masks.mask_json(&mut inner);
                    if inner != before {
                        *text = inner.to_string();
                    }
                }
                _ => *text = masks.mask(text).into_owned(),
            },
            other => masks.mask_json(other),
        }
    }
}

/// One line a row.
pub(super) fn lines(rows: &[Map<String, Value>]) -> Vec<u8> {
    let mut out = Vec::new();
    for row in rows {
        // Text keys and JSON values: writing them to memory cannot fail.
        let _ = serde_json::to_writer(&mut out, row);
        out.push(b'\n');
    }
    out
}

/// An archive in the making.
pub(super) struct Archive {
    zip: ZipWriter<Cursor<Vec<u8>>>,
    /// Hashes by entry.
    hashes: BTreeMap<String, String>,
    written: usize,
    most: usize,
}

impl Archive {
    fn new(most: usize) -> Self {
        Self { zip: ZipWriter::new(Cursor::new(Vec::new())), hashes: BTreeMap::new(), written: 0, most }
    }

    /// Adds an entry; what is there already is left as it is.
    pub(super) fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), BundleError> {
        if self.hashes.contains_key(name) {
            return Ok(());
        }
        self.written = self.written.saturating_add(bytes.len());
        if self.written > self.most.saturating_mul(RATIO) {
            return Err(BundleError::TooLarge { limit: self.most });
        }
        self.hashes.insert(name.to_owned(), hex(bytes));
        self.put(name, bytes)
    }

    fn finish(mut self) -> Result<Vec<u8>, BundleError> {
        let manifest = json!({"format": FORMAT, "version": VERSION, "files": self.hashes});
        self.put("manifest.json", manifest.to_string().as_bytes())?;
        let bytes = self.zip.finish().map_err(|error| BundleError::invalid(error.to_string()))?.into_inner();
        if bytes.len() > self.most {
            return Err(BundleError::TooLarge { limit: self.most });
        }
        Ok(bytes)
    }

    fn put(&mut self, name: &str, bytes: &[u8]) -> Result<(), BundleError> {
        // Without times, so that the same session is the same bundle.
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        let options = options.last_modified_time(zip::DateTime::default());
        self.zip
            .start_file(name, options)
            .map_err(std::io::Error::other)
            .and_then(|()| self.zip.write_all(bytes))
            .map_err(|error| BundleError::invalid(error.to_string()))
    }
}

/// The hash of bytes, in hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
