//! Rows of webhooks, and of what became of their latest deliveries.

use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use serde_json::{Map, Value, json};

use super::choice::Choice;
use crate::agents::store::sessions::object;

/// Deliveries of a webhook that are remembered.
const KEPT: i64 = 20;

/// A webhook.
#[derive(Debug, Clone, Default)]
pub struct Webhook {
    /// Its number in the database.
    pub no: i64,
    /// `whk_…`
    pub webhook_id: String,
    /// Where it posts to.
    pub url: String,
    /// What it wants.
    pub choice: Choice,
    /// What its requests are signed with; never shown.
    pub secret: Option<String>,
    /// Whether it posts.
    pub enabled: bool,
    /// Epoch seconds. What happened before is not posted.
    pub created_at: f64,
    /// Epoch seconds.
    pub updated_at: f64,
}

const COLUMNS: &str = "no, webhook_id, url, kinds, filter, secret, enabled, created_at, updated_at";

impl Webhook {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let kinds: String = row.get("kinds")?;
        let kinds = serde_json::from_str(&kinds).map_err(|_| rusqlite::Error::InvalidQuery)?;
        let choice = Choice::read(kinds, Some(&object(row, "filter")?));
        Ok(Self {
            no: row.get("no")?,
            webhook_id: row.get("webhook_id")?,
            url: row.get("url")?,
            choice: choice.map_err(|_| rusqlite::Error::InvalidQuery)?,
            secret: row.get("secret")?,
            enabled: row.get("enabled")?,
            created_at: row.get("created_at")?,
            updated_at: row.get("updated_at")?,
        })
    }

    /// As callers see it; deliveries come beside.
    #[must_use]
    pub fn view(&self) -> Map<String, Value> {
        let view = json!({
            "webhook_id": self.webhook_id,
            "url": self.url,
            "kinds": self.choice.kinds,
            "filter": self.choice.filter(),
            "enabled": self.enabled,
            "has_secret": self.secret.is_some(),
            "created_at": self.created_at,
            "updated_at": self.updated_at,
        });
        if let Value::Object(view) = view { view } else { Map::new() }
    }
}

/// Stores a webhook, or everything of it that can change where it is there already. Yields its number.
///
/// # Errors
/// Those of the database.
pub fn put(db: &Connection, row: &Webhook) -> rusqlite::Result<i64> {
    let mut put = db.prepare_cached(
        "INSERT INTO webhooks (webhook_id, url, kinds, filter, secret, enabled, created_at, updated_at)
         VALUES (:webhook_id, :url, :kinds, :filter, :secret, :enabled, :created_at, :updated_at)
         ON CONFLICT (webhook_id) DO UPDATE SET url = :url, kinds = :kinds, filter = :filter, secret = :secret,
            enabled = :enabled, updated_at = :updated_at
         RETURNING no",
    )?;
    put.query_row(
        named_params! {
            ":webhook_id": row.webhook_id,
            ":url": row.url,
            ":kinds": json!(row.choice.kinds).to_string(),
            ":filter": Value::Object(row.choice.filter()).to_string(),
            ":secret": row.secret,
            ":enabled": row.enabled,
            ":created_at": row.created_at,
            ":updated_at": row.updated_at,
        },
        |row| row.get(0),
    )
}

/// A webhook by its id.
///
/// # Errors
/// Those of the database.
pub fn find(db: &Connection, webhook_id: &str) -> rusqlite::Result<Option<Webhook>> {
    let sql = format!("SELECT {COLUMNS} FROM webhooks WHERE webhook_id = ?1");
    db.prepare_cached(&sql)?.query_row([webhook_id], Webhook::read).optional()
}

/// All webhooks, oldest first; only the enabled ones where that is asked.
///
/// # Errors
/// Those of the database.
pub fn list(db: &Connection, enabled: bool) -> rusqlite::Result<Vec<Webhook>> {
    let sql = format!("SELECT {COLUMNS} FROM webhooks WHERE enabled >= ?1 ORDER BY no");
    db.prepare_cached(&sql)?.query_map([enabled], Webhook::read)?.collect()
}

/// How many there are.
///
/// # Errors
/// Those of the database.
pub fn count(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("SELECT count(*) FROM webhooks", [], |row| row.get(0))
}

/// Removes one and all that it still had to deliver; how many those were, none where it was not there.
///
/// # Errors
/// Those of the database.
pub fn delete(db: &Connection, webhook_id: &str) -> rusqlite::Result<Option<i64>> {
    let Some(webhook) = find(db, webhook_id)? else { return Ok(None) };
    let dropped = super::outbox::pending(db, webhook.no)?;
    db.execute("DELETE FROM webhooks WHERE no = ?1", [webhook.no])?;
    Ok(Some(dropped))
}

/// One attempt to deliver.
#[derive(Debug, Clone, Default)]
pub struct Delivery {
    /// The same for every attempt.
    pub delivery_id: String,
    /// The kind of the event.
    pub kind: String,
    /// Epoch seconds.
    pub at: f64,
    /// What the other end answered.
    pub status: Option<u16>,
    /// Counts from 1.
    pub attempt: i64,
    /// How long it took.
    pub ms: i64,
    /// Why there was no answer.
    pub error: Option<String>,
}

/// Remembers an attempt.
///
/// # Errors
/// Those of the database.
pub fn remember(db: &Connection, webhook: i64, row: &Delivery) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO deliveries (webhook, delivery_id, kind, at, status, attempt, ms, error)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute((
        webhook,
        &row.delivery_id,
        &row.kind,
        row.at,
        row.status,
        row.attempt,
        row.ms,
        &row.error,
    ))?;
    db.prepare_cached(
        "DELETE FROM deliveries WHERE webhook = ?1 AND no <=
            (SELECT no FROM deliveries WHERE webhook = ?1 ORDER BY no DESC LIMIT 1 OFFSET ?2)",
    )?
    .execute((webhook, KEPT))
    .map(drop)
}

/// The latest attempts of a webhook, newest first, as callers see them.
///
/// # Errors
/// Those of the database.
pub fn latest(db: &Connection, webhook: i64) -> rusqlite::Result<Vec<Value>> {
    let mut query = db.prepare_cached(
        "SELECT delivery_id, kind, at, status, attempt, ms, error FROM deliveries WHERE webhook = ?1 ORDER BY no DESC",
    )?;
    let read = |row: &Row<'_>| {
        let mut view = Map::new();
        view.insert("id".to_owned(), row.get::<_, String>(0)?.into());
        view.insert("kind".to_owned(), row.get::<_, String>(1)?.into());
        view.insert("at".to_owned(), json!(row.get::<_, f64>(2)?));
        if let Some(status) = row.get::<_, Option<u16>>(3)? {
            view.insert("status".to_owned(), status.into());
        }
        view.insert("attempt".to_owned(), row.get::<_, i64>(4)?.into());
        view.insert("ms".to_owned(), row.get::<_, i64>(5)?.into());
        if let Some(error) = row.get::<_, Option<String>>(6)? {
            view.insert("error".to_owned(), error.into());
        }
        Ok(Value::Object(view))
    };
    query.query_map([webhook], read)?.collect()
}
