//! From the log into the outbox, and out of it.

use rusqlite::{Connection, Row};
use serde_json::{Map, Value, json};

use super::choice::About;
use super::rows::{self, Delivery, Webhook};
use crate::agents::ids;
use crate::agents::store::sessions::object;

/// Events that are looked through in one transaction.
const BATCH: i64 = 500;

/// Most deliveries that wait for one webhook; what comes beyond is lost, and told so.
const FULL: i64 = 10_000;

/// How long a delivery is tried, in seconds.
const LIFE: f64 = 24.0 * 3600.0;

/// The longest pause between two attempts, in seconds.
const LONGEST_PAUSE: f64 = 600.0;

/// What a delivery is named with.
pub const DELIVERY: &str = "dlv_";

/// Looks through the next events of the log and puts what is wanted into the outbox. Whether there may be more.
///
/// # Errors
/// Those of the database; the same events are looked through again then.
pub fn fill(db: &Connection, now: f64) -> rusqlite::Result<bool> {
    let seen: i64 = counter(db, "webhooks_gseq")?;
    let webhooks = rows::list(db, true)?;
    if webhooks.is_empty() {
        return Ok(false);
    }
    let floods = webhooks.iter().any(|webhook| webhook.choice.wants_floods());
    let mut query = db.prepare_cached(
        "SELECT events.gseq, events.seq, events.ts, events.turn_id, events.kind, events.data,
            sessions.session_id, sessions.agent_id, sessions.labels
         FROM events JOIN sessions ON sessions.no = events.session
         WHERE events.gseq > ?1 AND (?2 OR events.kind NOT IN ('message.chunk', 'terminal.output'))
         ORDER BY events.gseq LIMIT ?3",
    )?;
    let events: Vec<Event> =
        query.query_map((seen, floods, BATCH), Event::read)?.collect::<rusqlite::Result<_>>()?;
    let more = i64::try_from(events.len()).unwrap_or(i64::MAX) == BATCH;
    let reached = match events.last() {
        Some(last) if more => last.gseq,
        _ => counter(db, "gseq")?.max(events.last().map_or(seen, |last| last.gseq)),
    };
    for event in &events {
        for webhook in &webhooks {
            if event.ts >= webhook.created_at && webhook.choice.wants(event.about()) {
                put(db, webhook, event, now)?;
            }
        }
    }
    set_counter(db, reached)?;
    Ok(more)
}

/// Whether the log holds what has not been looked through, and somebody may want it.
///
/// # Errors
/// Those of the database.
pub fn is_behind(db: &Connection) -> rusqlite::Result<bool> {
    let mut query = db.prepare_cached("SELECT EXISTS (SELECT 1 FROM webhooks WHERE enabled = 1)")?;
    let wanted: bool = query.query_row([], |row| row.get(0))?;
    Ok(wanted && counter(db, "gseq")? > counter(db, "webhooks_gseq")?)
}

/// Before a webhook is stored: where nobody wanted what was until now, nobody is to be sent it.
///
/// # Errors
/// Those of the database.
pub fn begin(db: &Connection) -> rusqlite::Result<()> {
    if rows::list(db, true)?.is_empty() {
        set_counter(db, counter(db, "gseq")?)?;
    }
    Ok(())
}

struct Event {
    gseq: i64,
    seq: i64,
    ts: f64,
    turn_id: Option<String>,
    kind: String,
    data: Value,
    session_id: String,
    agent_id: String,
    labels: Map<String, Value>,
}

impl Event {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let data: String = row.get("data")?;
        Ok(Self {
            gseq: row.get("gseq")?,
            seq: row.get("seq")?,
            ts: row.get("ts")?,
            turn_id: row.get("turn_id")?,
            kind: row.get("kind")?,
            data: serde_json::from_str(&data).unwrap_or_default(),
            session_id: row.get("session_id")?,
            agent_id: row.get("agent_id")?,
            labels: object(row, "labels")?,
        })
    }

    fn about(&self) -> About<'_> {
        About {
            kind: &self.kind,
            session_id: &self.session_id,
            agent_id: &self.agent_id,
            labels: &self.labels,
        }
    }
}

fn put(db: &Connection, webhook: &Webhook, event: &Event, now: f64) -> rusqlite::Result<()> {
    let delivery_id = ids::new(DELIVERY);
    if pending(db, webhook.no)? >= FULL {
        let error = Some("outbox_full".to_owned());
        let lost = Delivery { delivery_id, kind: event.kind.clone(), at: now, error, ..Delivery::default() };
        return rows::remember(db, webhook.no, &lost);
    }
    let mut body = json!({
        "delivery_id": delivery_id,
        "webhook_id": webhook.webhook_id,
        "event": {
            "seq": event.seq,
            "gseq": event.gseq,
            "ts": event.ts,
            "session_id": event.session_id,
            "kind": event.kind,
            "data": event.data,
        },
        "session": {"session_id": event.session_id, "agent_id": event.agent_id, "labels": event.labels},
    });
    if let (Some(turn_id), Some(event)) =
        (&event.turn_id, body.get_mut("event").and_then(Value::as_object_mut))
    {
        event.insert("turn_id".to_owned(), turn_id.as_str().into());
    }
    db.prepare_cached(
        "INSERT INTO outbox (delivery_id, webhook, session_id, kind, body, queued_at, next_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
    )?
    .execute((&delivery_id, webhook.no, &event.session_id, &event.kind, body.to_string(), now))
    .map(drop)
}

/// A delivery that is to be tried now.
#[derive(Debug, Clone)]
pub struct Due {
    /// Its number in the outbox.
    pub no: i64,
    /// The same for every attempt.
    pub delivery_id: String,
    /// The number of its webhook.
    pub webhook: i64,
    /// The session that it tells of.
    pub session_id: String,
    /// The kind of the event.
    pub kind: String,
    /// What is posted.
    pub body: String,
    /// When it was put there.
    pub queued_at: f64,
    /// Attempts until now.
    pub attempt: i64,
    /// Where it goes.
    pub url: String,
    /// What it is signed with.
    pub secret: Option<String>,
}

/// The deliveries whose time has come: of each webhook and session only the oldest that waits.
///
/// # Errors
/// Those of the database.
pub fn due(db: &Connection, now: f64, most: i64) -> rusqlite::Result<Vec<Due>> {
    let mut query = db.prepare_cached(
        "SELECT outbox.no, delivery_id, webhook, session_id, kind, body, queued_at, attempt, url, secret
         FROM outbox JOIN webhooks ON webhooks.no = outbox.webhook
         WHERE webhooks.enabled = 1 AND next_at <= ?1 AND NOT EXISTS (SELECT 1 FROM outbox AS older
            WHERE older.webhook = outbox.webhook AND older.session_id = outbox.session_id AND older.no < outbox.no)
         ORDER BY next_at, outbox.no LIMIT ?2",
    )?;
    let read = |row: &Row<'_>| {
        Ok(Due {
            no: row.get(0)?,
            delivery_id: row.get(1)?,
            webhook: row.get(2)?,
            session_id: row.get(3)?,
            kind: row.get(4)?,
            body: row.get(5)?,
            queued_at: row.get(6)?,
            attempt: row.get(7)?,
            url: row.get(8)?,
            secret: row.get(9)?,
        })
    };
    query.query_map((now, most), read)?.collect()
}

/// When the next delivery is to be tried; none where nothing waits.
///
/// # Errors
/// Those of the database.
pub fn earliest(db: &Connection) -> rusqlite::Result<Option<f64>> {
    let mut query = db.prepare_cached(
        "SELECT min(next_at) FROM outbox JOIN webhooks ON webhooks.no = outbox.webhook WHERE webhooks.enabled = 1",
    )?;
    query.query_row([], |row| row.get(0))
}

/// How many deliveries wait for a webhook.
///
/// # Errors
/// Those of the database.
pub fn pending(db: &Connection, webhook: i64) -> rusqlite::Result<i64> {
    db.prepare_cached("SELECT count(*) FROM outbox WHERE webhook = ?1")?
        .query_row([webhook], |row| row.get(0))
}

/// Writes down what an attempt came to: a delivery that arrived is done, one that did not is tried again later, and given
/// up a day after it was put here.
///
/// # Errors
/// Those of the database.
pub fn settle(db: &Connection, due: &Due, tried: &Delivery) -> rusqlite::Result<()> {
    let arrived = tried.status.is_some_and(|status| (200..300).contains(&status));
    let next_at = tried.at + pause(tried.attempt);
    let given_up = !arrived && next_at > due.queued_at + LIFE;
    // A webhook that was deleted meanwhile has taken its outbox along.
    let there: bool = db
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM webhooks WHERE no = ?1)")?
        .query_row([due.webhook], |row| row.get(0))?;
    if !there {
        return Ok(());
    }
    if arrived || given_up {
        db.prepare_cached("DELETE FROM outbox WHERE no = ?1")?.execute([due.no])?;
    } else {
        db.prepare_cached("UPDATE outbox SET attempt = ?2, next_at = ?3 WHERE no = ?1")?.execute((
            due.no,
            tried.attempt,
            next_at,
        ))?;
    }
    rows::remember(db, due.webhook, tried)
}

/// The pause after an attempt: 1 s, doubled each time, at most ten minutes.
#[must_use]
pub fn pause(attempt: i64) -> f64 {
    let doublings = i32::try_from(attempt.saturating_sub(1).clamp(0, 30)).unwrap_or(30);
    2_f64.powi(doublings).min(LONGEST_PAUSE)
}

fn counter(db: &Connection, name: &str) -> rusqlite::Result<i64> {
    db.prepare_cached("SELECT value FROM counters WHERE name = ?1")?.query_row([name], |row| row.get(0))
}

fn set_counter(db: &Connection, value: i64) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE counters SET value = ?1 WHERE name = 'webhooks_gseq' AND value <> ?1")?
        .execute([value])
        .map(drop)
}

#[cfg(test)]
mod tests;
