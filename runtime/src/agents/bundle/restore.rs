//! Putting a bundle into the store, all of it or nothing. The session comes back closed: what goes on from it is opened by
//! whoever resumes it.

use super::table::{EVENTS, ITEMS, TABLES, TURNS};
use super::{Bundle, BundleError, points, rename, spans};
use crate::agents::artifacts;
use crate::agents::search;
use crate::agents::store::sessions::{self, SessionRow};
use crate::agents::store::{StoreError, now};
use crate::agents::workspace::records;
use crate::app::App;
use rusqlite::Connection;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What becomes of a session whose name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// It gets another.
    NewId,
    /// It is refused.
    Fail,
}

/// How a bundle is taken.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Where the session works from now on; absolute, judged by the caller.
    pub cwd: String,
    /// Its agent, where it is another than the bundle's.
    pub agent_id: Option<String>,
    /// Its title, where it is another.
    pub title: Option<String>,
    /// Who it belongs to.
    pub owner: String,
    /// What becomes of it where its name is taken.
    pub on_conflict: OnConflict,
}

/// What was put in.
#[derive(Debug, Clone)]
pub struct Restored {
    /// The session.
    pub session: SessionRow,
    /// How many events it has.
    pub events: usize,
    /// How many artifacts.
    pub artifacts: usize,
    /// How many restore points.
    pub checkpoints: usize,
}

/// Stores a bundle.
///
/// # Errors
/// That its name is taken, that a row does not fit, or that the store failed; then nothing of it is there.
pub async fn restore(app: &Arc<App>, mut bundle: Bundle, asked: Asked) -> Result<Restored, BundleError> {
    let store = app.agents.store().await?;
    let names = names(&bundle);
    if store.read(move |db| taken(db, &names)).await? {
        if asked.on_conflict == OnConflict::Fail {
            return Err(BundleError::Exists(bundle.says("session_id").unwrap_or_default().to_owned()));
        }
        rename::rename(&mut bundle);
    }
    // Bytes first: a row never names what is not there.
    artifacts::store(store.place(), bundle.blobs.values().cloned().collect()).await?;
    points::restore(app, &asked.cwd, &bundle).await?;
    let (events, kept) = (bundle.table(EVENTS.name).len(), bundle.artifacts().len());
    let checkpoints = bundle.points.len();
    let put = store.write(move |db| insert(db, &bundle, &asked)).await;
    let session = put.map_err(|error| match error {
        // Strict tables refuse what is of another type.
        StoreError::Database(rusqlite::Error::SqliteFailure(..)) => {
            BundleError::invalid("a row of the bundle does not fit its table")
        }
        other => other.into(),
    })?;
    Ok(Restored { session, events, artifacts: kept, checkpoints })
}

/// Names that belong to one session alone.
fn names(bundle: &Bundle) -> Vec<String> {
    let turns = bundle.table(TURNS.name).iter().filter_map(|row| row.get("turn_id")?.as_str());
    let points = bundle.points.iter().map(|point| point.row.checkpoint_id.as_str());
    bundle.says("session_id").into_iter().chain(turns).chain(points).map(str::to_owned).collect()
}

fn taken(db: &Connection, names: &[String]) -> rusqlite::Result<bool> {
    let mut query = db.prepare(
        "SELECT EXISTS (SELECT 1 FROM sessions WHERE session_id = ?1)
            OR EXISTS (SELECT 1 FROM turns WHERE turn_id = ?1)
            OR EXISTS (SELECT 1 FROM checkpoints WHERE checkpoint_id = ?1)",
    )?;
    for name in names {
        if query.query_row([name], |row| row.get::<_, bool>(0))? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn insert(db: &Connection, bundle: &Bundle, asked: &Asked) -> rusqlite::Result<SessionRow> {
    let session = insert_session(db, bundle, asked)?;
    // What comes from elsewhere did not happen here: it gets numbers below those that followers of all sessions see.
    let lowest: i64 =
        db.query_row("SELECT min(0, coalesce(min(gseq), 0)) FROM events", [], |row| row.get(0))?;
    let count = i64::try_from(bundle.table(EVENTS.name).len()).unwrap_or(i64::MAX);
    let mut gseq = lowest.saturating_sub(count);
    for (table, rows) in TABLES.iter().zip(&bundle.tables) {
        for row in rows {
            if table.name == EVENTS.name {
                table.insert(db, row, &[("session", session), ("gseq", gseq)])?;
                gseq += 1;
            } else if table.name == ITEMS.name {
                let no = table.insert(db, row, &[("session", session), ("open", 0)])?;
                search::index(db, no)?;
            } else if table.name == TURNS.name {
                table.insert(db, &ended(row), &[("session", session)])?;
            } else {
                table.insert(db, row, &[("session", session)])?;
            }
        }
    }
    let mut points = BTreeMap::new();
    for point in &bundle.points {
        let mut row = point.row.clone();
        row.session = session;
        points.insert(row.checkpoint_id.clone(), records::insert(db, &row)?);
    }
    spans::insert(db, session, &bundle.spans, &points)?;
    let find = format!("SELECT {} FROM sessions WHERE no = ?1", sessions::COLUMNS);
    db.query_row(&find, [session], SessionRow::read)
}

fn insert_session(db: &Connection, bundle: &Bundle, asked: &Asked) -> rusqlite::Result<i64> {
    let says = |name: &str| bundle.says(name).map(str::to_owned);
    let object =
        |name: &str| bundle.session.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
    let row = SessionRow {
        session_id: says("session_id").unwrap_or_default(),
        agent_id: asked.agent_id.clone().or_else(|| says("agent_id")).unwrap_or_default(),
        native_session_id: says("native_session_id"),
        owner: asked.owner.clone(),
        state: "closed".to_owned(),
        cwd: asked.cwd.clone(),
        title: asked.title.clone().or_else(|| says("title")),
        labels: object("labels"),
        version: 1,
        details: object("details"),
        created_at: bundle.session.get("created_at").and_then(Value::as_f64).unwrap_or_default(),
        updated_at: now(),
        closed_at: Some(now()),
        ..SessionRow::default()
    };
    let no = sessions::insert(db, &row)?;
    let whole = |name: &str| bundle.session.get(name).and_then(Value::as_i64).unwrap_or_default();
    let length = |row: &Map<String, Value>| {
        let text = |name: &str| row.get(name).and_then(Value::as_str).map_or(0, str::len);
        text("data") + text("raw") + 64
    };
    let events = bundle.table(EVENTS.name);
    let bytes: usize = events.iter().map(length).sum();
    let (events, bytes) = (i64::try_from(events.len()).ok(), i64::try_from(bytes).ok());
    db.execute(
        "UPDATE sessions SET first_seq = ?2, last_seq = ?3, log_events = ?4, log_bytes = ?5 WHERE no = ?1",
        rusqlite::params![no, whole("first_seq"), whole("last_seq"), events, bytes],
    )?;
    Ok(no)
}

/// A turn that was under way there is not under way here.
fn ended(row: &Map<String, Value>) -> Map<String, Value> {
    let mut row = row.clone();
    let state = match row.get("state").and_then(Value::as_str).unwrap_or_default() {
        "completed" | "cancelled" | "failed" | "interrupted" => return row,
        "queued" => "cancelled",
        _ => "interrupted",
    };
    row.insert("state".to_owned(), state.into());
    row
}
