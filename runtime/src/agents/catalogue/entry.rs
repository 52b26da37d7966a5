//! An agent with all that is known of it.

use super::builtin::{BUILTIN, Builtin};
use super::definition::Definition;
use super::facts::Facts;
use crate::agents::credentials::Credentials;
use crate::agents::process::Recipe;
use crate::agents::store::{Store, StoreError};
use crate::process::Programs;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// An agent of the catalogue.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// How it is launched.
    pub definition: Definition,
    /// What is known of it.
    pub facts: Facts,
    /// Sessions of it that have not ended.
    pub sessions_open: u64,
}

/// The agent of this id. A registration never hides a known agent.
///
/// # Errors
/// Those of the store.
pub async fn find(store: &Store, agent_id: &str) -> Result<Option<Entry>, StoreError> {
    let agent_id = agent_id.to_owned();
    store.read(move |db| entry_of(db, &agent_id)).await
}

/// All agents, by id, that come after `after`.
///
/// # Errors
/// Those of the store.
pub async fn list(store: &Store, after: Option<String>) -> Result<Vec<Entry>, StoreError> {
    let all = store.read(move |db| {
        let mut ids: Vec<String> = BUILTIN.iter().map(|known| known.id.to_owned()).collect();
        let mut query = db.prepare_cached("SELECT agent_id FROM agents")?;
        for id in query.query_map([], |row| row.get::<_, String>(0))? {
            ids.push(id?);
        }
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|id| after.as_ref().is_none_or(|after| id > after));
        ids.iter().filter_map(|id| entry_of(db, id).transpose()).collect()
    });
    all.await
}

fn entry_of(db: &Connection, agent_id: &str) -> rusqlite::Result<Option<Entry>> {
    let definition = match Builtin::find(agent_id) {
        Some(known) => Some(known.definition()),
        None => super::registered(db, agent_id)?,
    };
    let Some(definition) = definition else { return Ok(None) };
    let mut query = db.prepare_cached(
        "SELECT count(*) FROM sessions WHERE agent_id = ?1 AND state NOT IN ('closed', 'failed')",
    )?;
    let open: i64 = query.query_row([agent_id], |row| row.get(0))?;
    let facts = Facts::find(db, agent_id)?;
    Ok(Some(Entry { definition, facts, sessions_open: u64::try_from(open).unwrap_or(0) }))
}

impl Entry {
    /// The program that is run: what is installed for this server alone, or else what is named.
    #[must_use]
    pub fn command(&self) -> &str {
        let private = self.facts.install.as_ref().map(|install| install.command.as_str());
        private.filter(|command| Path::new(command).exists()).unwrap_or(&self.definition.command)
    }

    /// Its launch recipe, without secrets.
    #[must_use]
    pub fn recipe(&self) -> Recipe {
        let definition = &self.definition;
        Recipe {
            agent_id: definition.id.clone(),
            command: self.command().to_owned(),
            args: definition.args.clone(),
            env: definition.env.clone(),
            secrets: BTreeMap::new(),
            credentials: Vec::new(),
            client_fs: definition.client_fs,
            client_terminal: definition.client_terminal,
            share_process: definition.share_process,
        }
    }

    /// Whether its program is here. Looks at the disk.
    #[must_use]
    pub fn is_installed(&self, programs: &Programs) -> bool {
        programs.locate(self.command()).is_some()
    }

    /// As the list shows it. Looks at the disk: call it off the async threads.
    #[must_use]
    pub fn shown(&self, programs: &Programs, credentials: &Credentials) -> Value {
        let definition = &self.definition;
        let missing = credentials.missing(&definition.id, &definition.credentials);
        let auth = match (missing.is_empty(), self.facts.signed_in) {
            (_, Some(true)) => "ready",
            (false, _) => "missing",
            (true, Some(false)) => "missing",
            (true, None) if definition.credentials.is_empty() => "unknown",
            (true, None) => "ready",
        };
        let handshake = self.facts.handshake.as_ref();
        let version = handshake.and_then(|handshake| handshake.version()).or(self
            .facts
            .install
            .as_ref()
            .map(|install| install.version.as_str()));
        let mut shown = json!({
            "id": definition.id,
            "name": definition.name,
            "kind": definition.kind,
            "command": self.command(),
            "installed": self.is_installed(programs),
            "auth": auth,
            "missing_credentials": missing,
            "sessions_open": self.sessions_open,
        });
        let optional = [
            ("version", version.map(Value::from)),
            ("capabilities", handshake.and_then(|h| h.result.get("agentCapabilities").cloned())),
            ("node_min", definition.node_min.map(Value::from)),
        ];
        add(&mut shown, optional);
        shown
    }

    /// The same with the launch recipe and the last handshake. Looks at the disk.
    #[must_use]
    pub fn shown_whole(&self, programs: &Programs, credentials: &Credentials) -> Value {
        let definition = &self.definition;
        let mut shown = self.shown(programs, credentials);
        let optional = [
            ("args", Some(json!(definition.args))),
            ("env_names", Some(json!(definition.env.keys().collect::<Vec<_>>()))),
            ("client_fs", Some(json!(definition.client_fs))),
            ("client_terminal", Some(json!(definition.client_terminal))),
            ("share_process", Some(json!(definition.share_process))),
            ("allow_rpc", Some(json!(definition.allow_rpc))),
            ("install", definition.install.as_ref().map(|install| json!(install))),
            ("cwd_default", definition.cwd_default.as_ref().map(|cwd| json!(cwd))),
            ("handshake", self.facts.handshake.as_ref().map(|handshake| handshake.shown())),
        ];
        add(&mut shown, optional);
        shown
    }
}

fn add(shown: &mut Value, members: impl IntoIterator<Item = (&'static str, Option<Value>)>) {
    if let Some(object) = shown.as_object_mut() {
        let present = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        object.extend(present);
    }
}
