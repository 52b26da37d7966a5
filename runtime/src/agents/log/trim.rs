//! Keeping a session's log within bounds: first old chunks are joined, then the oldest events go.
//!
//! A joined event has the number of its last piece, and `from_seq` in its data says the first. Who comes back with a number
//! in between gets it whole.

use super::merge::Piece;
use super::{Bounds, Kind};
use rusqlite::{Connection, OptionalExtension as _, params};

/// Rows that one pass looks at.
const ROWS: i64 = 10_000;
/// Text of one joined event.
const JOINED: usize = 64 * 1024;

/// One pass; whether another is needed.
pub(super) fn pass(db: &Connection, session: i64, bounds: Bounds) -> rusqlite::Result<bool> {
    let mut query = db.prepare_cached(
        "SELECT first_seq, last_seq, log_events, log_bytes, merged_seq FROM sessions WHERE no = ?1",
    )?;
    let found = query.query_row([session], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?, row.get::<_, i64>(4)?))
    });
    let Some((first, last, events, bytes, merged)): Option<(i64, i64, i64, i64, i64)> = found.optional()?
    else {
        return Ok(false);
    };
    // A tenth below, so that it is not every append that trims.
    let (events_wanted, bytes_wanted) =
        (bounds.events - bounds.events / 10, bounds.bytes - bounds.bytes / 10);
    if events <= events_wanted && bytes <= bytes_wanted {
        return Ok(false);
    }
    // The newest quarter stays as it came.
    let old = last - bounds.events / 4;
    let begin = merged.max(first - 1);
    let more = if begin < old {
        join(db, session, begin, old)?;
        true
    } else {
        drop_oldest(db, session, (events - events_wanted).max(0), (bytes - bytes_wanted).max(0))?
    };
    db.execute_batch("PRAGMA incremental_vacuum(2000)")?;
    Ok(more)
}

/// A run of chunks that are one.
struct Run {
    turn_id: Option<String>,
    piece: Piece,
    /// `gseq` of its pieces.
    pieces: Vec<i64>,
    bytes: i64,
}

fn join(db: &Connection, session: i64, begin: i64, end: i64) -> rusqlite::Result<()> {
    let mut query = db.prepare_cached(
        "SELECT gseq, seq, turn_id, kind, data, length(CAST(data AS BLOB)) + coalesce(length(CAST(raw AS BLOB)), 0) + 64
         FROM events WHERE session = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq LIMIT ?4",
    )?;
    let mut rows = query.query(params![session, begin, end, ROWS])?;
    let (mut run, mut looked, mut gone, mut saved): (Option<Run>, i64, i64, i64) = (None, begin, 0, 0);
    let mut finish = |run: Option<Run>| -> rusqlite::Result<()> {
        let (events, bytes) = write(db, run)?;
        gone += events;
        saved += bytes;
        Ok(())
    };
    while let Some(row) = rows.next()? {
        let (gseq, seq): (i64, i64) = (row.get(0)?, row.get(1)?);
        let (turn_id, kind, data): (Option<String>, String, String) = (row.get(2)?, row.get(3)?, row.get(4)?);
        let bytes: i64 = row.get(5)?;
        looked = seq;
        let Some(piece) = Kind::from_name(&kind).and_then(|kind| Piece::of(kind, &data, seq)) else {
            finish(run.take())?;
            continue;
        };
        match &mut run {
            Some(run)
                if run.piece.goes_with(&piece)
                    && run.turn_id == turn_id
                    && run.piece.text.len() + piece.text.len() <= JOINED =>
            {
                run.piece.text.push_str(&piece.text);
                run.pieces.push(gseq);
                run.bytes += bytes;
            }
            _ => {
                finish(run.take())?;
                run = Some(Run { turn_id, piece, pieces: vec![gseq], bytes });
            }
        }
    }
    finish(run.take())?;
    db.prepare_cached(
        "UPDATE sessions SET merged_seq = max(merged_seq, ?2), log_events = log_events - ?3, log_bytes = log_bytes - ?4
         WHERE no = ?1",
    )?
    // A run that went on beyond this pass is begun anew by the next: no harm, it is two events then.
    .execute(params![session, if looked == begin { end } else { looked }, gone, saved])?;
    Ok(())
}

/// Puts the joined event in the place of its last piece; yields how many events and bytes that saves.
fn write(db: &Connection, run: Option<Run>) -> rusqlite::Result<(i64, i64)> {
    let Some(run) = run.filter(|run| run.pieces.len() > 1) else { return Ok((0, 0)) };
    let data = run.piece.data().to_string();
    let Some((last, earlier)) = run.pieces.split_last() else { return Ok((0, 0)) };
    let mut delete = db.prepare_cached("DELETE FROM events WHERE gseq = ?1")?;
    for gseq in earlier {
        delete.execute([gseq])?;
    }
    let length = i64::try_from(data.len()).unwrap_or(i64::MAX) + 64;
    db.prepare_cached("UPDATE events SET data = ?2, raw = NULL WHERE gseq = ?1")?
        .execute(params![last, data])?;
    Ok((i64::try_from(earlier.len()).unwrap_or(0), run.bytes - length))
}

/// Drops the oldest events until so many, and so many bytes, are gone; at most one pass full.
fn drop_oldest(db: &Connection, session: i64, events: i64, bytes: i64) -> rusqlite::Result<bool> {
    let mut query = db.prepare_cached(
        "SELECT gseq, seq, length(CAST(data AS BLOB)) + coalesce(length(CAST(raw AS BLOB)), 0) + 64
         FROM events WHERE session = ?1 ORDER BY seq LIMIT ?2",
    )?;
    let mut rows = query.query(params![session, ROWS])?;
    let (mut gone, mut saved, mut last) = (0, 0, None);
    while (gone < events || saved < bytes)
        && let Some(row) = rows.next()?
    {
        last = Some((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
        gone += 1;
        saved += row.get::<_, i64>(2)?;
    }
    drop(rows);
    let Some((gseq, seq)) = last else { return Ok(false) };
    db.prepare_cached("DELETE FROM events WHERE session = ?1 AND seq <= ?2")?
        .execute(params![session, seq])?;
    db.prepare_cached(
        "UPDATE sessions SET first_seq = ?2, log_events = log_events - ?3, log_bytes = log_bytes - ?4 WHERE no = ?1",
    )?
    .execute(params![session, seq + 1, gone, saved])?;
    db.prepare_cached("UPDATE counters SET value = max(value, ?1) WHERE name = 'first_gseq'")?
        .execute([gseq + 1])?;
    Ok(true)
}
