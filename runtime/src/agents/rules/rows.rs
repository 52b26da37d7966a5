//! The rules in the store.

use super::matching::{Decision, Match, Rule, Scope};
use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Rules that there may be at once: every call is judged by all of them.
pub const MOST: i64 = 1000;

/// A rule as it is stored and listed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleRow {
    /// `rul_…`
    pub rule_id: String,
    /// Whose calls.
    pub scope: Scope,
    /// Which calls.
    #[serde(rename = "match")]
    pub matches: Match,
    /// What becomes of them.
    pub decision: Decision,
    /// Who made it.
    pub created_by: String,
    /// Epoch seconds.
    pub created_at: f64,
    /// Epoch seconds; without end where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<f64>,
    /// How many calls it has decided.
    pub hits: i64,
    /// Epoch seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_hit_at: Option<f64>,
}

impl RuleRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let decision: String = row.get("decision")?;
        Ok(Self {
            rule_id: row.get("rule_id")?,
            scope: json(row, "scope")?,
            matches: json(row, "match")?,
            decision: match decision.as_str() {
                "allow" => Decision::Allow,
                "ask" => Decision::Ask,
                // What cannot be read must not allow anything.
                _ => Decision::Reject,
            },
            created_by: row.get("created_by")?,
            created_at: row.get("created_at")?,
            expires_at: row.get("expires_at")?,
            hits: row.get("hits")?,
            last_hit_at: row.get("last_hit_at")?,
        })
    }

    /// The rule, its globs compiled.
    ///
    /// # Errors
    /// As [`Rule::new`].
    pub fn compile(&self) -> Result<Rule, String> {
        Rule::new(
            self.rule_id.clone(),
            self.scope.clone(),
            self.matches.clone(),
            self.decision,
            self.expires_at,
        )
    }
}

fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into())
    })
}

/// Every rule that has not ended, in the order in which they apply: `reject`, `ask`, `allow`, the oldest first.
///
/// # Errors
/// Those of the database, and a rule that cannot be read: then nothing may be decided without a person.
pub fn all(db: &Connection, now: f64) -> rusqlite::Result<Vec<RuleRow>> {
    let mut query = db.prepare_cached(
        "SELECT * FROM rules WHERE expires_at IS NULL OR expires_at > ?1
         ORDER BY CASE decision WHEN 'reject' THEN 0 WHEN 'ask' THEN 1 ELSE 2 END, no",
    )?;
    query.query_map([now], RuleRow::read)?.collect()
}

/// A rule by its id.
///
/// # Errors
/// Those of the database.
pub fn find(db: &Connection, rule_id: &str) -> rusqlite::Result<Option<RuleRow>> {
    db.prepare_cached("SELECT * FROM rules WHERE rule_id = ?1")?
        .query_row([rule_id], RuleRow::read)
        .optional()
}

/// Stores a rule, in the place of the one of its id. A replaced rule begins to count anew. False where there are too
/// many.
///
/// # Errors
/// Those of the database.
pub fn put(db: &Connection, row: &RuleRow) -> rusqlite::Result<bool> {
    let text = |value: Result<String, serde_json::Error>| value.unwrap_or_default();
    db.execute("DELETE FROM rules WHERE expires_at <= ?1", [row.created_at])?;
    let others: i64 =
        db.query_row("SELECT count(*) FROM rules WHERE rule_id != ?1", [&row.rule_id], |row| row.get(0))?;
    if others >= MOST {
        return Ok(false);
    }
    db.prepare_cached(
        "INSERT INTO rules (rule_id, scope, match, decision, created_by, created_at, expires_at)
         VALUES (:rule_id, :scope, :match, :decision, :created_by, :created_at, :expires_at)
         ON CONFLICT (rule_id) DO UPDATE SET scope = excluded.scope, match = excluded.match,
            decision = excluded.decision, created_by = excluded.created_by, created_at = excluded.created_at,
            expires_at = excluded.expires_at, hits = 0, last_hit_at = NULL",
    )?
    .execute(named_params! {
        ":rule_id": row.rule_id,
        ":scope": text(serde_json::to_string(&row.scope)),
        ":match": text(serde_json::to_string(&row.matches)),
        ":decision": row.decision.as_str(),
        ":created_by": row.created_by,
        ":created_at": row.created_at,
        ":expires_at": row.expires_at,
    })?;
    Ok(true)
}

/// Counts a decision.
///
/// # Errors
/// Those of the database.
pub fn hit(db: &Connection, rule_id: &str, now: f64) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE rules SET hits = hits + 1, last_hit_at = ?2 WHERE rule_id = ?1")?
        .execute((rule_id, now))?;
    Ok(())
}

/// Revokes a rule; whether it was there.
///
/// # Errors
/// Those of the database.
pub fn delete(db: &Connection, rule_id: &str) -> rusqlite::Result<bool> {
    Ok(db.execute("DELETE FROM rules WHERE rule_id = ?1", [rule_id])? > 0)
}

/// Revokes the rules of a session that is deleted.
///
/// # Errors
/// Those of the database.
pub fn delete_of_session(db: &Connection, session_id: &str) -> rusqlite::Result<()> {
    db.execute("DELETE FROM rules WHERE json_extract(scope, '$.session_id') = ?1", [session_id])?;
    Ok(())
}
