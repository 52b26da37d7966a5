//! Which agents can run here: a table of known ones, and those that callers have registered.
//!
//! | module | |
//! |---|---|
//! | `definition` | a launch recipe, and what makes one valid |
//! | `builtin` | the known agents |
//! | `facts` | what is known of an agent: its last handshake, its install, its sign-in |
//! | `entry` | an agent with all that is known of it, as lists show it |

mod builtin;
mod definition;
mod entry;
mod facts;

pub use builtin::{BUILTIN, Builtin};
pub use definition::{
    ArchiveSource, Definition, DefinitionError, InstallSource, Origin, is_agent_id, is_core,
};
pub use entry::{Entry, find, list};
pub use facts::{Facts, Install};

use super::process::Handshake;
use super::store::{Store, StoreError, now};
use rusqlite::OptionalExtension as _;
use std::collections::HashMap;

/// Stores a registration, in place of an earlier one.
///
/// # Errors
/// Those of the store.
pub async fn register(store: &Store, definition: Definition, by: String) -> Result<(), StoreError> {
    store
        .write(move |db| {
            let text = serde_json::to_string(&definition).unwrap_or_default();
            db.execute(
                "INSERT INTO agents (agent_id, definition, registered_by, updated_at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (agent_id) DO UPDATE SET definition = excluded.definition,
                     registered_by = excluded.registered_by, updated_at = excluded.updated_at",
                (&definition.id, text, by, now()),
            )?;
            // What was said of another program under this name holds no more; what is installed stays on disk.
            db.execute(
                "UPDATE agent_facts SET handshake = NULL, signed_in = NULL WHERE agent_id = ?1",
                [&definition.id],
            )?;
            Ok(())
        })
        .await
}

/// Drops a registration. False where there was none.
///
/// # Errors
/// Those of the store.
pub async fn unregister(store: &Store, agent_id: String) -> Result<bool, StoreError> {
    let gone = store.write(move |db| {
        db.execute("DELETE FROM agent_facts WHERE agent_id = ?1", [&agent_id])?;
        Ok(db.execute("DELETE FROM agents WHERE agent_id = ?1", [&agent_id])? > 0)
    });
    gone.await
}

/// Remembers a handshake.
///
/// # Errors
/// Those of the store.
pub async fn shook_hands(store: &Store, agent_id: String, handshake: &Handshake) -> Result<(), StoreError> {
    let text = serde_json::to_string(handshake).unwrap_or_default();
    facts::set(store, agent_id, "handshake", Some(text)).await
}

/// Remembers what was installed, or that nothing is any more.
///
/// # Errors
/// Those of the store.
pub async fn installed(store: &Store, agent_id: String, install: Option<&Install>) -> Result<(), StoreError> {
    let text = install.and_then(|install| serde_json::to_string(install).ok());
    facts::set(store, agent_id, "install", text).await
}

/// Remembers that it was signed in or out.
///
/// # Errors
/// Those of the store.
pub async fn signed_in(store: &Store, agent_id: String, yes: bool) -> Result<(), StoreError> {
    facts::set(store, agent_id, "signed_in", Some(i64::from(yes))).await
}

/// The sessions of an agent that have not ended, by id.
///
/// # Errors
/// Those of the store.
pub async fn open_sessions(store: &Store, agent_id: String) -> Result<Vec<String>, StoreError> {
    let open = store.read(move |db| {
        let mut query = db.prepare_cached(
            "SELECT session_id FROM sessions WHERE agent_id = ?1 AND state NOT IN ('closed', 'failed')
             ORDER BY session_id",
        )?;
        query.query_map([agent_id], |row| row.get(0))?.collect()
    });
    open.await
}

/// Our sessions of an agent by its own names for them.
///
/// # Errors
/// Those of the store.
pub async fn known_as(store: &Store, agent_id: String) -> Result<HashMap<String, String>, StoreError> {
    let known = store.read(move |db| {
        let mut query = db.prepare_cached(
            "SELECT native_session_id, session_id FROM sessions WHERE agent_id = ?1 AND native_session_id IS NOT NULL",
        )?;
        query.query_map([agent_id], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    });
    known.await
}

/// The registration of this id.
fn registered(db: &rusqlite::Connection, agent_id: &str) -> rusqlite::Result<Option<Definition>> {
    let mut query = db.prepare_cached("SELECT definition FROM agents WHERE agent_id = ?1")?;
    let text: Option<String> = query.query_row([agent_id], |row| row.get(0)).optional()?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}
