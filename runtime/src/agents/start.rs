//! An agent of the catalogue into a process.

use super::Agents;
use super::catalogue::{self, Entry};
use super::process::{AgentProcess, Judge, Recipe, StartError, StartFor, unknown_agent};
use super::store::StoreError;
use crate::error::ApiError;
use std::sync::Arc;

impl Agents {
    /// Starts an agent of the catalogue, or gives a process that may be shared, and remembers what it says of itself.
    ///
    /// # Errors
    /// See [`StartError`]; it becomes the answer of the call. Nothing is left running then.
    pub async fn start(&self, agent_id: &str, what: StartFor) -> Result<Arc<AgentProcess>, StartError> {
        let entry = self.entry(agent_id).await?.ok_or_else(|| StartError::Unknown(agent_id.to_owned()))?;
        let recipe = self.recipe(&entry, &what.judge)?;
        let process = self.processes.start(&recipe, what).await?;
        if let Some(handshake) = process.handshake()
            && entry.facts.handshake.as_ref() != Some(handshake)
        {
            catalogue::shook_hands(self.store().await?, agent_id.to_owned(), handshake).await?;
        }
        Ok(process)
    }

    /// An agent with all that is known of it.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn entry(&self, agent_id: &str) -> Result<Option<Entry>, StoreError> {
        catalogue::find(self.store().await?, agent_id).await
    }

    /// The same, for a call that names it.
    ///
    /// # Errors
    /// 404 `agent_not_found`.
    pub async fn known(&self, agent_id: &str) -> Result<Entry, ApiError> {
        self.entry(agent_id).await?.ok_or_else(|| unknown_agent(agent_id))
    }

    /// Its launch recipe with the secrets that are bound to it.
    ///
    /// # Errors
    /// The credentials cannot be read.
    pub fn recipe(&self, entry: &Entry, judge: &Judge) -> Result<Recipe, StartError> {
        let given = self.credentials.give(&entry.definition.id, judge).map_err(StartError::Credentials)?;
        Ok(Recipe { secrets: given.variables, credentials: given.names, ..entry.recipe() })
    }
}
