//! What is left to do once a conversation is open: the options that callers want.

use super::{Climb, Opened, Up};
use crate::agents::acp::Wait;
use crate::agents::options::Options;
use crate::agents::process::AgentProcess;
use crate::agents::sessions::actor::begin::How;
use crate::agents::sessions::client::Switches;
use crate::agents::sessions::fault;
use crate::error::ApiError;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// How long one option may take to be set.
const OPTION: Duration = Duration::from_secs(30);

impl Climb {
    /// Chooses the options that callers want. A new session fails by a value that cannot be chosen; one that goes on
    /// leaves it.
    pub(super) async fn dress(&self, process: &Arc<AgentProcess>, opened: Opened) -> Result<Up, ApiError> {
        let mut options = match self.how {
            // What the agent does not say again still holds.
            How::Again { .. } => Options::from_value(&self.details.options),
            _ => Options::default(),
        };
        options.opened(&opened.answer);
        for (key, value) in &self.details.desired {
            let set = self.choose(process, &opened.native, &mut options, key, value).await;
            match set {
                Err(error) if !matches!(self.how, How::Again { .. }) => return Err(error),
                _ => {}
            }
        }
        let Opened { native, continuity, digest, unproven, .. } = opened;
        let entry = self.app.agents.entry(&self.row.agent_id).await?;
        let recipe = entry.map(|entry| entry.recipe()).unwrap_or_default();
        let switches = Switches { files: recipe.client_fs, terminals: recipe.client_terminal };
        Ok(Up { process: Arc::clone(process), native, options, continuity, digest, switches, unproven })
    }

    async fn choose(
        &self,
        process: &Arc<AgentProcess>,
        native: &str,
        options: &mut Options,
        key: &str,
        value: &Value,
    ) -> Result<(), ApiError> {
        let Some(view) = options.find(key) else {
            return Err(fault::no_option(key));
        };
        if view.value == *value {
            return Ok(());
        }
        fault::check_choice(&view, value, &self.details.policy)?;
        let (method, mut params) = view.setter(value);
        if let Some(params) = params.as_object_mut() {
            params.insert("sessionId".to_owned(), native.into());
        }
        let answer = process.peer.request(method, &params, Wait::total(OPTION)).await;
        let answer = answer.map_err(|error| fault::of_rpc(process, error))?;
        if !options.take_config(&answer) {
            options.set(&view, value);
        }
        Ok(())
    }
}
