//! Numbering: events get their numbers, their rows and their items in the transaction of the writer.

use super::Kind;
use super::event::{Event, Prepared, raw};
use crate::agents::items::Working;
use crate::agents::store::StoreError;
use crate::agents::{artifacts, usage};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;
use std::sync::Arc;

/// What was appended, and how large the session's log is now.
#[derive(Debug)]
pub(super) struct Appended {
    pub(super) session: i64,
    pub(super) events: Vec<Arc<Event>>,
    pub(super) log_events: i64,
    pub(super) log_bytes: i64,
}

/// What a session's row says before and after.
struct Numbers {
    session: i64,
    seq: i64,
    gseq: i64,
    events: i64,
    bytes: i64,
}

/// Appends; `None` where there is no such session.
pub(super) fn run(
    db: &Connection,
    session_id: &Arc<str>,
    prepared: Vec<Prepared>,
) -> rusqlite::Result<Option<Appended>> {
    let mut find = db.prepare_cached(
        "SELECT no, last_seq, log_events, log_bytes, (SELECT value FROM counters WHERE name = 'gseq')
         FROM sessions WHERE session_id = ?1",
    )?;
    let found = find.query_row([&**session_id], |row| {
        Ok(Numbers {
            session: row.get(0)?,
            seq: row.get(1)?,
            events: row.get(2)?,
            bytes: row.get(3)?,
            gseq: row.get(4)?,
        })
    });
    let Some(mut at) = found.optional()? else { return Ok(None) };
    let mut items = Working::load(db, session_id, at.session)?;
    let mut events = Vec::with_capacity(prepared.len());
    for event in prepared {
        // What this event ends is said before it.
        for (turn_id, data) in items.closed_by(event.kind, event.turn_id.as_deref(), &event.data, event.ts)? {
            let text = data.to_string();
            events.push(insert(
                db,
                session_id,
                &mut at,
                turn_id,
                Kind::MessageCompleted,
                text,
                None,
                event.ts,
            )?);
        }
        let Prepared { turn_id, kind, data, text, raw, ts, artifacts } = event;
        items.reduce(at.seq + 1, ts, turn_id.as_deref(), kind, &data)?;
        usage::reduce(db, at.session, turn_id.as_deref(), kind, &data, ts)?;
        // One that is nothing but its artifacts is said by them.
        if kind != Kind::ArtifactCreated || artifacts.is_empty() {
            events.push(insert(db, session_id, &mut at, turn_id.clone(), kind, text, raw, ts)?);
        }
        for found in artifacts {
            // The session may have it already.
            let Some(data) = artifacts::insert(db, at.session, turn_id.as_deref(), &found, ts)? else {
                continue;
            };
            let (turn_id, text) = (turn_id.clone(), data.to_string());
            events.push(insert(db, session_id, &mut at, turn_id, Kind::ArtifactCreated, text, None, ts)?);
        }
        if let Some(turn_id) = turn_id.as_deref() {
            spans(db, turn_id, at.seq, kind)?;
        }
    }
    items.store()?;
    db.prepare_cached("UPDATE sessions SET last_seq = ?2, log_events = ?3, log_bytes = ?4 WHERE no = ?1")?
        .execute(params![at.session, at.seq, at.events, at.bytes])?;
    db.prepare_cached("UPDATE counters SET value = ?1 WHERE name = 'gseq'")?.execute([at.gseq])?;
    Ok(Some(Appended { session: at.session, events, log_events: at.events, log_bytes: at.bytes }))
}

#[expect(clippy::too_many_arguments, reason = "the columns of a row")]
fn insert(
    db: &Connection,
    session_id: &Arc<str>,
    at: &mut Numbers,
    turn_id: Option<String>,
    kind: Kind,
    data: String,
    raw_part: Option<String>,
    ts: f64,
) -> rusqlite::Result<Arc<Event>> {
    at.seq += 1;
    at.gseq += 1;
    at.events += 1;
    let length = data.len() + raw_part.as_ref().map_or(0, String::len) + 64;
    at.bytes += i64::try_from(length).unwrap_or(i64::MAX);
    db.prepare_cached(
        "INSERT INTO events (gseq, session, seq, ts, turn_id, kind, data, raw) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![at.gseq, at.session, at.seq, ts, turn_id, kind.as_str(), data, raw_part])?;
    Ok(Arc::new(Event {
        seq: at.seq,
        gseq: at.gseq,
        ts,
        session_id: Arc::clone(session_id),
        turn_id,
        kind,
        data: raw(data),
        raw: raw_part.map(raw),
    }))
}

/// Which events belong to a turn. Chunks lie between others: they need not be told.
fn spans(db: &Connection, turn_id: &str, seq: i64, kind: Kind) -> rusqlite::Result<()> {
    if !kind.is_chunk() {
        db.prepare_cached(
            "UPDATE turns SET first_seq = coalesce(first_seq, ?2), last_seq = ?2 WHERE turn_id = ?1",
        )?
        .execute(params![turn_id, seq])?;
    }
    Ok(())
}

/// What the transaction fails with where there is no such session, and
pub(super) fn no_session() -> rusqlite::Error {
    rusqlite::Error::InvalidParameterName(NO_SESSION.to_owned())
}

/// how that is told.
pub(super) fn missing(error: StoreError) -> StoreError {
    match error {
        StoreError::Database(rusqlite::Error::InvalidParameterName(name)) if name == NO_SESSION => {
            StoreError::NoSession
        }
        other => other,
    }
}

const NO_SESSION: &str = "no such session";

/// Text of a member that is text.
pub(in crate::agents) fn text<'a>(data: &'a Value, name: &str) -> Option<&'a str> {
    data.get(name).and_then(Value::as_str)
}
