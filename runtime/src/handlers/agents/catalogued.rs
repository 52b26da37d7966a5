//! Starts the agent that a call's path names, for the call alone.

use crate::agents::Agents;
use crate::agents::acp::Wait;
use crate::agents::catalogue::Entry;
use crate::agents::process::{AgentProcess, Judge, StartFor, place_refused};
use crate::endpoint::Call;
use crate::error::ApiError;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// A process that ends with the call, however the call ends.
#[derive(Debug)]
pub(super) struct Brief(Arc<AgentProcess>);

impl Deref for Brief {
    type Target = Arc<AgentProcess>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Drop for Brief {
    fn drop(&mut self) {
        if self.0.ended().is_none() {
            let process = Arc::clone(&self.0);
            tokio::spawn(async move { process.stop(Duration::ZERO, true).await });
        }
    }
}

/// What a start needs of a call; it outlives the call's own borrow.
#[derive(Debug)]
pub(super) struct Starting {
    pub(super) agents: Arc<Agents>,
    pub(super) judge: Judge,
    agent_id: String,
}

impl Starting {
    /// From the parameter `agent_id` of the path.
    ///
    /// # Errors
    /// 400 where it is no text.
    pub(super) fn of(call: &Call) -> Result<Self, ApiError> {
        let agents = Arc::clone(&call.app().agents);
        Ok(Self { agents, judge: Judge::of(call.permit()), agent_id: call.param("agent_id")?.into_owned() })
    }

    /// The agent.
    ///
    /// # Errors
    /// 404 `agent_not_found`.
    pub(super) async fn entry(&self) -> Result<Entry, ApiError> {
        self.agents.known(&self.agent_id).await
    }

    /// Starts it in `cwd`, else where it says itself, else in the base directory. Yields that directory too.
    ///
    /// # Errors
    /// 404 `agent_not_found`, what the policy refuses, and what kept it from starting.
    pub(super) async fn start(&self, cwd: Option<&str>, patience: Wait) -> Result<(Brief, String), ApiError> {
        let entry = self.entry().await?;
        let place = self.judge.place(cwd.or(entry.definition.cwd_default.as_deref()));
        let place = place.map_err(|error| place_refused("cwd", &error))?;
        let path = place.path.clone();
        let what = StartFor { judge: self.judge.clone(), place, session_id: None, trace: false, patience };
        let process = self.agents.start(&self.agent_id, what).await?;
        Ok((Brief(process), path))
    }
}
