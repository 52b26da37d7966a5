//! Restore points with the content of their files. A tree is rebuilt from its list of paths, and must get its old name.

use super::pack::{Archive, lines};
use super::{Bundle, BundleError, spans};
use crate::agents::ids;
use crate::agents::store::sessions::SessionRow;
use crate::agents::workspace::objects::{Kind, Objects, Oid};
use crate::agents::workspace::records::{self, Checkpoint};
use crate::agents::workspace::tree::{self, Entry, Manifest, Mode};
use crate::agents::workspace::{Desk, Skipped};
use crate::app::App;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

/// Most restore points of a bundle.
const MOST: i64 = 10_000;

/// A restore point of a bundle.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) row: Checkpoint,
    manifest: Option<Manifest>,
}

/// Adds the restore points of a session.
pub(super) async fn pack(
    app: &Arc<App>,
    session: &SessionRow,
    archive: &mut Archive,
) -> Result<(), BundleError> {
    let no = session.no;
    let read = move |db: &Connection| Ok((records::list(db, no, None, MOST)?, records::stretches(db, no)?));
    let (mut rows, stretches) = app.agents.store().await?.read(read).await?;
    if rows.is_empty() {
        archive.add("checkpoints.jsonl", &[])?;
        return archive.add(spans::ENTRY, &[]);
    }
    // Oldest first.
    rows.reverse();
    let desk = Desk::at(app, &session.cwd).await?;
    let read = desk.with_objects(move |objects| {
        let (mut points, mut contents, mut trees) = (Vec::new(), Vec::new(), BTreeSet::new());
        for row in rows {
            // One whose objects are gone is told without them.
            let tree = row.tree.as_deref().and_then(|tree| tree.parse().ok());
            let manifest = tree.and_then(|tree| tree::read(objects, tree).ok());
            contents.extend(manifest.iter().flat_map(Manifest::values).map(|entry| entry.oid));
            points.push(line(&row, manifest.as_ref()));
            trees.extend(row.tree.filter(|_| manifest.is_some()));
        }
        let (spans, more) = spans::pack(objects, stretches, trees);
        contents.extend(more);
        contents.sort_unstable();
        contents.dedup();
        let contents = contents.into_iter().map(|oid: Oid| Ok((oid, objects.get(Kind::Blob, oid)?)));
        Ok((points, spans, contents.collect::<io::Result<Vec<_>>>()?))
    });
    let (points, spans, contents) = read.await?;
    archive.add("checkpoints.jsonl", &lines(&points))?;
    archive.add(spans::ENTRY, &lines(&spans))?;
    for (oid, bytes) in contents {
        archive.add(&format!("objects/{oid}"), &bytes)?;
    }
    Ok(())
}

fn line(row: &Checkpoint, manifest: Option<&Manifest>) -> Map<String, Value> {
    let value = json!({
        "checkpoint_id": row.checkpoint_id,
        "kind": row.kind,
        "label": row.label,
        "turn_id": row.turn_id,
        "tree": row.tree.as_ref().filter(|_| manifest.is_some()),
        "reason": row.reason,
        "files": row.files,
        "bytes": row.bytes,
        "skipped": row.skipped,
        "created_at": row.created_at,
        "paths": manifest.map(paths),
    });
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// The list of a tree.
pub(super) fn paths(manifest: &Manifest) -> Value {
    let path = |(path, entry): (&Vec<u8>, &Entry)| {
        json!([STANDARD.encode(path), mode_word(entry.mode), entry.oid.to_string()])
    };
    manifest.iter().map(path).collect()
}

/// Reads such a list; every object that it names must be there.
pub(super) fn manifest(paths: &Value, holds: impl Fn(&str) -> bool) -> Option<Manifest> {
    paths.as_array()?.iter().map(|path| entry(path, &holds)).collect()
}

fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::File => "file",
        Mode::Executable => "executable",
        Mode::Link => "link",
    }
}

/// Reads a restore point of a bundle; every object that it names must be there.
pub(super) fn read(row: &Map<String, Value>, holds: impl Fn(&str) -> bool) -> Option<Point> {
    let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| row.get(name).and_then(Value::as_i64).filter(|number| *number >= 0);
    let checkpoint_id = text("checkpoint_id").filter(|id| ids::is(ids::CHECKPOINT, id))?;
    let kind = text("kind").filter(|kind| matches!(kind.as_str(), "auto" | "manual" | "safety"))?;
    let manifest = match row.get("paths").filter(|paths| !paths.is_null()) {
        None => None,
        Some(paths) => Some(manifest(paths, &holds)?),
    };
    let tree = text("tree").filter(|tree| tree.parse::<Oid>().is_ok());
    if tree.is_some() != manifest.is_some() {
        return None;
    }
    let skipped: Vec<Skipped> = serde_json::from_value(row.get("skipped")?.clone()).ok()?;
    let row = Checkpoint {
        no: 0,
        checkpoint_id,
        session: 0,
        kind,
        label: text("label"),
        turn_id: text("turn_id"),
        tree,
        reason: text("reason"),
        files: number("files")?,
        bytes: number("bytes")?,
        skipped,
        created_at: row.get("created_at")?.as_f64()?,
    };
    Some(Point { row, manifest })
}

/// One path: never out of the workspace, never into `.git`.
fn entry(path: &Value, holds: &impl Fn(&str) -> bool) -> Option<(Vec<u8>, Entry)> {
    let [path, mode, oid] = path.as_array()?.as_slice() else { return None };
    let path = STANDARD.decode(path.as_str()?).ok()?;
    let plain = |part: &[u8]| {
        let up = part == b"." || part == b".." || part == b".git";
        !part.is_empty() && !up && !part.contains(&0)
    };
    let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    if parts.len() > tree::DEEPEST || !parts.into_iter().all(plain) {
        return None;
    }
    let mode = match mode.as_str()? {
        "file" => Mode::File,
        "executable" => Mode::Executable,
        "link" => Mode::Link,
        _ => return None,
    };
    let name = oid.as_str()?;
    let oid = name.parse().ok().filter(|_| holds(name))?;
    Some((path, Entry { mode, oid }))
}

/// Puts the objects of every restore point into the store of the workspace.
pub(super) async fn restore(app: &Arc<App>, cwd: &str, bundle: &Bundle) -> Result<(), BundleError> {
    if bundle.points.is_empty() {
        return Ok(());
    }
    let (points, spans, contents) = (bundle.points.clone(), bundle.spans.clone(), bundle.objects.clone());
    let desk = Desk::at(app, cwd).await?;
    let stored = desk.with_objects(move |objects| {
        for (name, bytes) in &contents {
            if objects.put(Kind::Blob, bytes)?.to_string() != *name {
                return Ok(false);
            }
        }
        let points = points.iter().map(|point| fits(objects, point));
        let spans = spans.iter().map(|span| spans::fits(objects, span));
        let fits = points.chain(spans).collect::<io::Result<Vec<bool>>>()?;
        objects.sync()?;
        Ok(fits.into_iter().all(|fits| fits))
    });
    match stored.await? {
        true => Ok(()),
        false => {
            Err(BundleError::invalid("an object of a checkpoint or of a span is not what its name says"))
        }
    }
}

fn fits(objects: &Objects, point: &Point) -> io::Result<bool> {
    let (Some(manifest), Some(tree)) = (&point.manifest, &point.row.tree) else { return Ok(true) };
    Ok(tree::write(objects, manifest)?.to_string() == *tree)
}
