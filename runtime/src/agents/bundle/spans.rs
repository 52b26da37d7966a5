//! Stretches in which a session changed its own workspace, each with the workspace at its end: what changes are told apart by
//! elsewhere too.

use super::BundleError;
use super::points::{self, Point};
use crate::agents::ids;
use crate::agents::workspace::objects::{Objects, Oid};
use crate::agents::workspace::records::{self, Stretch};
use crate::agents::workspace::tree::{self, Manifest};
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// The entry of the archive. One that has none is of a session that is not told apart.
pub(super) const ENTRY: &str = "spans.jsonl";

/// A stretch of a bundle. Its end is listed where it is no restore point's, and no earlier stretch's.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) row: Stretch,
    manifest: Option<Manifest>,
}

/// The lines of stretches whose end is known, and the content that their lists name beside that of `trees`.
pub(super) fn pack(
    objects: &Objects,
    stretches: Vec<Stretch>,
    mut trees: BTreeSet<String>,
) -> (Vec<Map<String, Value>>, Vec<Oid>) {
    let (mut lines, mut contents) = (Vec::new(), Vec::new());
    for stretch in stretches {
        let manifest = if trees.contains(&stretch.end_tree) {
            None
        } else {
            // One whose objects are gone is of no use.
            let found = stretch.end_tree.parse().ok().and_then(|tree| tree::read(objects, tree).ok());
            let Some(manifest) = found else { continue };
            contents.extend(manifest.values().map(|entry| entry.oid));
            trees.insert(stretch.end_tree.clone());
            Some(manifest)
        };
        let line = json!({
            "turn_id": stretch.turn_id,
            "checkpoint_id": stretch.checkpoint_id,
            "end_tree": stretch.end_tree,
            "ended_at": stretch.ended_at,
            "paths": manifest.as_ref().map(points::paths),
        });
        if let Value::Object(line) = line {
            lines.push(line);
        }
    }
    (lines, contents)
}

/// Reads the stretches of a bundle; each begins at a point, and its end is listed where it is told first.
pub(super) fn read(
    rows: &[Map<String, Value>],
    points: &[Point],
    holds: impl Fn(&str) -> bool,
) -> Result<Vec<Span>, BundleError> {
    let begins: BTreeSet<&str> = points.iter().map(|point| point.row.checkpoint_id.as_str()).collect();
    let mut trees: BTreeSet<&str> = points.iter().filter_map(|point| point.row.tree.as_deref()).collect();
    let mut spans = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        let span = span(row, &holds).filter(|span| {
            let listed = span.manifest.is_some() || trees.contains(span.row.end_tree.as_str());
            listed && begins.contains(span.row.checkpoint_id.as_str())
        });
        let tree = row.get("end_tree").and_then(Value::as_str);
        trees.extend(tree);
        let unfit = || BundleError::invalid(format!("line {} of {ENTRY} does not fit", at + 1));
        spans.push(span.ok_or_else(unfit)?);
    }
    Ok(spans)
}

fn span(row: &Map<String, Value>, holds: &impl Fn(&str) -> bool) -> Option<Span> {
    let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
    let turn_id = text("turn_id");
    if turn_id.as_deref().is_some_and(|turn| !ids::is(ids::TURN, turn)) {
        return None;
    }
    let row_read = Stretch {
        turn_id,
        checkpoint_id: text("checkpoint_id")?,
        end_tree: text("end_tree").filter(|tree| tree.parse::<Oid>().is_ok())?,
        ended_at: row.get("ended_at")?.as_f64()?,
    };
    let manifest = match row.get("paths").filter(|paths| !paths.is_null()) {
        None => None,
        Some(paths) => Some(points::manifest(paths, holds)?),
    };
    Some(Span { row: row_read, manifest })
}

/// Whether the list of its end, where there is one, gets the name that it should have.
pub(super) fn fits(objects: &Objects, span: &Span) -> io::Result<bool> {
    match &span.manifest {
        None => Ok(true),
        Some(manifest) => Ok(tree::write(objects, manifest)?.to_string() == span.row.end_tree),
    }
}

/// Puts the stretches of a session in, behind its points, whose numbers are given by name.
pub(super) fn insert(
    db: &Connection,
    session: i64,
    spans: &[Span],
    points: &BTreeMap<String, i64>,
) -> rusqlite::Result<()> {
    for Span { row, .. } in spans {
        if let Some(point) = points.get(&row.checkpoint_id) {
            let span = records::begin(db, session, row.turn_id.as_deref(), *point)?;
            records::end(db, span, &row.end_tree, row.ended_at)?;
        }
    }
    Ok(())
}
