//! Rows of schedules and of their runs.

use jiff::tz::TimeZone;
use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use serde_json::{Map, Value, json};

use super::trigger::Trigger;
use super::zone::{name, zone};
use crate::agents::store::sessions::object;

/// A schedule.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// Its number in the database.
    pub no: i64,
    /// `sch_…`
    pub schedule_id: String,
    /// What people call it.
    pub name: String,
    /// When it fires.
    pub trigger: Trigger,
    /// Where its clock hangs.
    pub zone: TimeZone,
    /// Whether it fires.
    pub enabled: bool,
    /// Who made it; its runs are theirs.
    pub owner: String,
    /// The session that it prompts; none where each run opens its own.
    pub session_id: Option<String>,
    /// What a session is opened with.
    pub session_fields: Map<String, Value>,
    /// Text or content blocks.
    pub prompt: Value,
    /// Whether a slot that comes while the last run goes on waits for it; skipped otherwise.
    pub queues: bool,
    /// Whether slots that passed while the server was down are made up for by one run; skipped otherwise.
    pub makes_up: bool,
    /// After so many failures in a row it is disabled.
    pub max_failures: i64,
    /// How many there were.
    pub failures: i64,
    /// Where counting of intervals begins, in epoch seconds.
    pub anchor: i64,
    /// The next slot.
    pub next_at: Option<i64>,
    /// Epoch seconds.
    pub created_at: f64,
    /// Epoch seconds.
    pub updated_at: f64,
}

const COLUMNS: &str = "no, schedule_id, name, trigger, timezone, enabled, owner, session_id, session_fields, prompt, overlap, \
    missed, max_failures, failures_in_a_row, anchor, next_at, created_at, updated_at";

impl Schedule {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let text = |column: &str| row.get::<_, String>(column);
        let broken = || rusqlite::Error::InvalidQuery;
        let prompt = text("prompt")?;
        Ok(Self {
            no: row.get("no")?,
            schedule_id: text("schedule_id")?,
            name: text("name")?,
            trigger: Trigger::parse(&text("trigger")?).ok_or_else(broken)?,
            zone: zone(&text("timezone")?).ok_or_else(broken)?,
            enabled: row.get("enabled")?,
            owner: text("owner")?,
            session_id: row.get("session_id")?,
            session_fields: object(row, "session_fields")?,
            prompt: serde_json::from_str(&prompt).map_err(|_| broken())?,
            queues: text("overlap")? == "queue",
            makes_up: text("missed")? == "run_once",
            max_failures: row.get("max_failures")?,
            failures: row.get("failures_in_a_row")?,
            anchor: whole(row.get("anchor")?),
            next_at: row.get::<_, Option<f64>>("next_at")?.map(whole),
            created_at: row.get("created_at")?,
            updated_at: row.get("updated_at")?,
        })
    }

    /// As callers see it; runs come beside.
    #[must_use]
    pub fn view(&self) -> Map<String, Value> {
        let view = json!({
            "schedule_id": self.schedule_id,
            "name": self.name,
            "trigger": self.trigger.view(),
            "timezone": name(&self.zone),
            "enabled": self.enabled,
            "owner": self.owner,
            "prompt": self.prompt,
            "overlap": if self.queues { "queue" } else { "skip" },
            "missed": if self.makes_up { "run_once" } else { "skip" },
            "max_failures": self.max_failures,
            "failures_in_a_row": self.failures,
            "created_at": self.created_at,
        });
        let Value::Object(mut view) = view else { return Map::new() };
        if let Some(session_id) = &self.session_id {
            view.insert("session_id".to_owned(), session_id.as_str().into());
        }
        view.extend(self.session_fields.iter().map(|(name, value)| (name.clone(), value.clone())));
        if let Some(next_at) = self.next_at.filter(|_| self.enabled) {
            view.insert("next_at".to_owned(), next_at.into());
        }
        view
    }
}

/// Whole seconds of a stored time.
fn whole(time: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "written from whole seconds")]
    let whole = time as i64;
    whole
}

/// A time as it is stored.
#[expect(clippy::cast_precision_loss, reason = "times are far below 2^53")]
pub(super) const fn stored(time: i64) -> f64 {
    time as f64
}

/// Stores a schedule, or everything of it that can change where it is there already. Yields its number.
///
/// # Errors
/// Those of the database.
pub fn put(db: &Connection, row: &Schedule) -> rusqlite::Result<i64> {
    let mut put = db.prepare_cached(
        "INSERT INTO schedules (schedule_id, name, trigger, timezone, enabled, owner, session_id, session_fields, prompt,
            overlap, missed, max_failures, failures_in_a_row, anchor, next_at, created_at, updated_at)
         VALUES (:schedule_id, :name, :trigger, :timezone, :enabled, :owner, :session_id, :session_fields, :prompt,
            :overlap, :missed, :max_failures, :failures, :anchor, :next_at, :created_at, :updated_at)
         ON CONFLICT (schedule_id) DO UPDATE SET name = :name, trigger = :trigger, timezone = :timezone,
            enabled = :enabled, session_id = :session_id, session_fields = :session_fields, prompt = :prompt,
            overlap = :overlap, missed = :missed, max_failures = :max_failures, failures_in_a_row = :failures,
            anchor = :anchor, next_at = :next_at, updated_at = :updated_at
         RETURNING no",
    )?;
    put.query_row(
        named_params! {
            ":schedule_id": row.schedule_id,
            ":name": row.name,
            ":trigger": row.trigger.view().to_string(),
            ":timezone": name(&row.zone),
            ":enabled": row.enabled,
            ":owner": row.owner,
            ":session_id": row.session_id,
            ":session_fields": Value::Object(row.session_fields.clone()).to_string(),
            ":prompt": row.prompt.to_string(),
            ":overlap": if row.queues { "queue" } else { "skip" },
            ":missed": if row.makes_up { "run_once" } else { "skip" },
            ":max_failures": row.max_failures,
            ":failures": row.failures,
            ":anchor": stored(row.anchor),
            ":next_at": row.next_at.map(stored),
            ":created_at": row.created_at,
            ":updated_at": row.updated_at,
        },
        |row| row.get(0),
    )
}

/// Moves a schedule on to its next slot.
///
/// # Errors
/// Those of the database.
pub fn advance(db: &Connection, no: i64, next_at: Option<i64>) -> rusqlite::Result<()> {
    let mut update = db.prepare_cached("UPDATE schedules SET next_at = ?2 WHERE no = ?1")?;
    update.execute((no, next_at.map(stored))).map(drop)
}

/// A schedule by its id.
///
/// # Errors
/// Those of the database.
pub fn find(db: &Connection, schedule_id: &str) -> rusqlite::Result<Option<Schedule>> {
    let sql = format!("SELECT {COLUMNS} FROM schedules WHERE schedule_id = ?1");
    db.prepare_cached(&sql)?.query_row([schedule_id], Schedule::read).optional()
}

/// All schedules, oldest first; only those that are (not) enabled, where that is asked.
///
/// # Errors
/// Those of the database.
pub fn list(db: &Connection, enabled: Option<bool>, most: i64) -> rusqlite::Result<Vec<Schedule>> {
    let sql =
        format!("SELECT {COLUMNS} FROM schedules WHERE ?1 IS NULL OR enabled = ?1 ORDER BY no LIMIT ?2");
    db.prepare_cached(&sql)?.query_map((enabled, most), Schedule::read)?.collect()
}

/// The enabled schedules whose next slot has come.
///
/// # Errors
/// Those of the database.
pub fn due(db: &Connection, now: i64) -> rusqlite::Result<Vec<Schedule>> {
    let sql =
        format!("SELECT {COLUMNS} FROM schedules WHERE enabled = 1 AND next_at <= ?1 ORDER BY next_at, no");
    db.prepare_cached(&sql)?.query_map([stored(now)], Schedule::read)?.collect()
}

/// The earliest slot of all.
///
/// # Errors
/// Those of the database.
pub fn earliest(db: &Connection) -> rusqlite::Result<Option<f64>> {
    db.prepare_cached("SELECT min(next_at) FROM schedules WHERE enabled = 1")?.query_row([], |row| row.get(0))
}

/// How many there are.
///
/// # Errors
/// Those of the database.
pub fn count(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("SELECT count(*) FROM schedules", [], |row| row.get(0))
}

/// Removes one; whether it was there.
///
/// # Errors
/// Those of the database.
pub fn delete(db: &Connection, schedule_id: &str) -> rusqlite::Result<bool> {
    Ok(db.execute("DELETE FROM schedules WHERE schedule_id = ?1", [schedule_id])? > 0)
}
