//! What is known of an agent beyond its recipe.

use crate::agents::process::Handshake;
use crate::agents::store::{Store, StoreError};
use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::{Deserialize, Serialize};

/// What is installed in the private folder of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Install {
    /// `npm`, `pypi` or `archive`.
    pub source: String,
    /// The version that was installed; for an archive its checksum.
    pub version: String,
    /// The program, an absolute path.
    pub command: String,
    /// What it takes on disk.
    pub bytes: u64,
    /// When, in seconds since 1970.
    pub at: f64,
}

/// All of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// The last handshake.
    pub handshake: Option<Handshake>,
    /// What is installed.
    pub install: Option<Install>,
    /// Whether it was last signed in or out through this server.
    pub signed_in: Option<bool>,
}

impl Facts {
    /// What is known of one agent.
    pub(super) fn find(db: &Connection, agent_id: &str) -> rusqlite::Result<Self> {
        let mut query =
            db.prepare_cached("SELECT handshake, install, signed_in FROM agent_facts WHERE agent_id = ?1")?;
        Ok(query.query_row([agent_id], Self::read).optional()?.unwrap_or_default())
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let text = |name| row.get::<_, Option<String>>(name);
        Ok(Self {
            handshake: text("handshake")?.and_then(|text| serde_json::from_str(&text).ok()),
            install: text("install")?.and_then(|text| serde_json::from_str(&text).ok()),
            signed_in: row.get::<_, Option<i64>>("signed_in")?.map(|yes| yes != 0),
        })
    }
}

/// Sets one column of an agent's row.
pub(super) async fn set(
    store: &Store,
    agent_id: String,
    column: &'static str,
    value: Option<impl ToSql + Send + 'static>,
) -> Result<(), StoreError> {
    let written = store.write(move |db| {
        let sql = format!(
            "INSERT INTO agent_facts (agent_id, {column}) VALUES (?1, ?2)
             ON CONFLICT (agent_id) DO UPDATE SET {column} = excluded.{column}"
        );
        db.prepare_cached(&sql)?.execute((agent_id, value)).map(|_| ())
    });
    written.await
}
