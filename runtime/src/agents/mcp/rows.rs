//! Rows of MCP servers.

use rusqlite::{Connection, OptionalExtension as _, Row};
use serde_json::Value;

use super::definition::Definition;

/// A stored server.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// What is known of it.
    pub definition: Definition,
    /// What the last check found.
    pub last_check: Option<Value>,
}

impl Server {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let (definition, last_check): (String, Option<String>) = (row.get(1)?, row.get(2)?);
        Ok(Self {
            name: row.get(0)?,
            definition: serde_json::from_str(&definition).map_err(|_| rusqlite::Error::InvalidQuery)?,
            last_check: last_check.and_then(|text| serde_json::from_str(&text).ok()),
        })
    }

    /// As callers see it.
    #[must_use]
    pub fn view(&self) -> Value {
        let mut view = self.definition.view(&self.name);
        view.extend(self.last_check.clone().map(|check| ("last_check".to_owned(), check)));
        Value::Object(view)
    }
}

/// Stores a server; one of the same name is replaced, and what was found of it forgotten.
///
/// # Errors
/// Those of the database.
pub fn put(db: &Connection, name: &str, definition: &Definition, now: f64) -> rusqlite::Result<()> {
    let text = serde_json::to_string(definition).map_err(|_| rusqlite::Error::InvalidQuery)?;
    db.prepare_cached(
        "INSERT OR REPLACE INTO mcp_servers (name, definition, updated_at) VALUES (?1, ?2, ?3)",
    )?
    .execute((name, text, now))
    .map(drop)
}

/// Writes down what a check found.
///
/// # Errors
/// Those of the database.
pub fn checked(db: &Connection, name: &str, found: &Value) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE mcp_servers SET last_check = ?2 WHERE name = ?1")?
        .execute((name, found.to_string()))
        .map(drop)
}

/// A server by its name.
///
/// # Errors
/// Those of the database.
pub fn find(db: &Connection, name: &str) -> rusqlite::Result<Option<Server>> {
    db.prepare_cached("SELECT name, definition, last_check FROM mcp_servers WHERE name = ?1")?
        .query_row([name], Server::read)
        .optional()
}

/// All servers, by name.
///
/// # Errors
/// Those of the database.
pub fn list(db: &Connection) -> rusqlite::Result<Vec<Server>> {
    let mut query =
        db.prepare_cached("SELECT name, definition, last_check FROM mcp_servers ORDER BY name")?;
    query.query_map([], Server::read)?.collect()
}

/// Removes one; whether it was there.
///
/// # Errors
/// Those of the database.
pub fn delete(db: &Connection, name: &str) -> rusqlite::Result<bool> {
    Ok(db.execute("DELETE FROM mcp_servers WHERE name = ?1", [name])? > 0)
}

/// The open sessions that have asked for a server of this name, or get it without asking.
///
/// # Errors
/// Those of the database.
pub fn sessions_using(db: &Connection, server: &Server) -> rusqlite::Result<Vec<String>> {
    let mut query = db.prepare_cached(
        "SELECT session_id, agent_id, cwd, json_extract(details, '$.mcp') IS NULL,
            EXISTS (SELECT 1 FROM json_each(details, '$.mcp') AS asked WHERE asked.value = ?1)
         FROM sessions WHERE state NOT IN ('closed', 'failed') ORDER BY no",
    )?;
    let mut rows = query.query([&server.name])?;
    let mut using = Vec::new();
    while let Some(row) = rows.next()? {
        let (agent_id, cwd): (String, String) = (row.get(1)?, row.get(2)?);
        let (silent, asked): (bool, bool) = (row.get(3)?, row.get(4)?);
        if asked || (silent && server.definition.is_default_for(&agent_id, &cwd)) {
            using.push(row.get(0)?);
        }
    }
    Ok(using)
}
