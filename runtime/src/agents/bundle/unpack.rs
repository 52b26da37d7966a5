//! Reading a bundle: nothing is taken before every entry is known by its name and its hash.

use super::pack::hex;
use super::points::{self, Point};
use super::spans::{self, Span};
use super::table::{ARTIFACTS, TABLES};
use super::{BundleError, FORMAT, VERSION, check};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use zip::ZipArchive;

/// Most entries.
const MOST_ENTRIES: usize = 100_000;
/// Bytes that an archive may unpack to, for each of its own.
const LARGEST_RATIO: usize = 100;

/// A bundle that has been looked at: whole, and of a shape that can be stored.
#[derive(Debug, Clone)]
pub struct Bundle {
    pub(super) session: Map<String, Value>,
    /// Rows in the order of the tables.
    pub(super) tables: Vec<Vec<Map<String, Value>>>,
    pub(super) points: Vec<Point>,
    pub(super) spans: Vec<Span>,
    /// Bytes of artifacts, by hash.
    pub(super) blobs: BTreeMap<String, Vec<u8>>,
    /// Content of files of restore points, by name.
    pub(super) objects: BTreeMap<String, Vec<u8>>,
}

/// Reads an archive that unpacks to at most so many bytes.
///
/// # Errors
/// Why it is no bundle.
pub fn unpack(bytes: &[u8], most: usize) -> Result<Bundle, BundleError> {
    let mut entries = entries(bytes, most)?;
    judge(&mut entries)?;
    let mut take =
        |name: &str| entries.remove(name).ok_or_else(|| BundleError::invalid(format!("{name} is missing")));
    let session = serde_json::from_slice(&take("session.json")?)
        .map_err(|_| BundleError::invalid("session.json is no object"))?;
    let tables = TABLES.iter().map(|table| rows(&table.entry(), &take(&table.entry())?));
    let tables = tables.collect::<Result<Vec<_>, _>>()?;
    let points = rows("checkpoints.jsonl", &take("checkpoints.jsonl")?)?;
    let listed = match entries.remove(spans::ENTRY) {
        Some(bytes) => rows(spans::ENTRY, &bytes)?,
        None => Vec::new(),
    };
    let (mut blobs, mut objects) = (BTreeMap::new(), BTreeMap::new());
    for (name, bytes) in entries {
        if let Some(hash) = name.strip_prefix("blobs/") {
            if hex(&bytes) != hash {
                return Err(BundleError::invalid(format!("`{name}` is not what its name says")));
            }
            blobs.insert(hash.to_owned(), bytes);
        } else if let Some(name) = name.strip_prefix("objects/") {
            objects.insert(name.to_owned(), bytes);
        }
    }
    let read = |row: &Map<String, Value>| points::read(row, |name| objects.contains_key(name));
    let points = points.iter().map(read).collect::<Option<Vec<_>>>();
    let points =
        points.ok_or_else(|| BundleError::invalid("checkpoints.jsonl has a row that is no checkpoint"))?;
    let spans = spans::read(&listed, &points, |name| objects.contains_key(name))?;
    let bundle = Bundle { session, tables, points, spans, blobs, objects };
    check::whole(&bundle)?;
    Ok(bundle)
}

impl Bundle {
    /// What the row of the session itself says.
    #[must_use]
    pub fn says(&self, name: &str) -> Option<&str> {
        self.session.get(name).and_then(Value::as_str)
    }

    pub(super) fn table(&self, name: &str) -> &[Map<String, Value>] {
        let at = TABLES.iter().position(|table| table.name == name);
        at.and_then(|at| self.tables.get(at)).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn artifacts(&self) -> &[Map<String, Value>] {
        self.table(ARTIFACTS.name)
    }
}

/// Compares every entry with the manifest.
fn judge(entries: &mut BTreeMap<String, Vec<u8>>) -> Result<(), BundleError> {
    let manifest = entries.remove("manifest.json");
    let manifest = manifest.ok_or_else(|| BundleError::invalid("manifest.json is missing"))?;
    let manifest: Value =
        serde_json::from_slice(&manifest).map_err(|_| BundleError::invalid("manifest.json is no JSON"))?;
    if manifest.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(BundleError::invalid("this is no bundle of a session"));
    }
    if manifest.get("version").and_then(Value::as_u64) != Some(VERSION) {
        return Err(BundleError::invalid(format!("only version {VERSION} of bundles can be read")));
    }
    let files = manifest.get("files").and_then(Value::as_object);
    let files = files.ok_or_else(|| BundleError::invalid("manifest.json names no files"))?;
    if files.len() != entries.len() {
        return Err(BundleError::invalid("the bundle holds other entries than its manifest names"));
    }
    for (name, bytes) in entries {
        if files.get(name).and_then(Value::as_str) != Some(hex(bytes).as_str()) {
            return Err(BundleError::invalid(format!("`{name}` is not what the manifest says")));
        }
    }
    Ok(())
}

/// Every entry, by a name that we know: no other is taken, wherever it would lead.
fn entries(bytes: &[u8], most: usize) -> Result<BTreeMap<String, Vec<u8>>, BundleError> {
    let broken =
        |error: &dyn std::fmt::Display| BundleError::invalid(format!("the archive cannot be read: {error}"));
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    if archive.len() > MOST_ENTRIES {
        return Err(BundleError::invalid("the archive has too many entries"));
    }
    let most = most.min(bytes.len().saturating_mul(LARGEST_RATIO));
    let (mut entries, mut left) = (BTreeMap::new(), most);
    for at in 0..archive.len() {
        let entry = archive.by_index(at).map_err(|error| broken(&error))?;
        let name = entry.name().map_err(|error| broken(&error))?.into_owned();
        if !is_known(&name) || !entry.is_file() {
            let shown: String = name.chars().take(100).flat_map(char::escape_debug).collect();
            return Err(BundleError::invalid(format!("`{shown}` is no entry of a bundle")));
        }
        let mut content = Vec::new();
        // What an entry says of its size is not believed.
        let limit = u64::try_from(left).unwrap_or(u64::MAX).saturating_add(1);
        entry.take(limit).read_to_end(&mut content).map_err(|error| broken(&error))?;
        left = left.checked_sub(content.len()).ok_or(BundleError::TooLarge { limit: most })?;
        if entries.insert(name.clone(), content).is_some() {
            return Err(BundleError::invalid(format!("`{name}` is there twice")));
        }
    }
    Ok(entries)
}

fn is_known(name: &str) -> bool {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_hash = |hash: &str| hash.len() == 64 && hash.bytes().all(digit);
    matches!(name, "manifest.json" | "session.json" | "checkpoints.jsonl" | spans::ENTRY)
        || TABLES.iter().any(|table| table.entry() == name)
        || name.strip_prefix("blobs/").is_some_and(is_hash)
        || name.strip_prefix("objects/").is_some_and(is_hash)
}

fn rows(name: &str, bytes: &[u8]) -> Result<Vec<Map<String, Value>>, BundleError> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let rows = lines.map(serde_json::from_slice).collect::<Result<Vec<_>, _>>();
    rows.map_err(|_| BundleError::invalid(format!("{name} has a line that is no object")))
}
