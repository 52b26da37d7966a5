//! Starts the agent that a call's path names, for the call alone.

use crate::agents::Agents;
use crate::agents::acp::{RpcError, Wait, code};
use crate::agents::catalogue::Entry;
use crate::agents::install::Held;
use crate::agents::process::{AgentProcess, Judge, StartFor, no_answer, place_refused};
use crate::endpoint::Call;
use crate::error::{ApiError, ErrorCode};
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

/// Takes the agent for an install or a removal.
///
/// # Errors
/// 409 `install_running`.
pub(super) fn held(agents: &Agents, agent_id: &str) -> Result<Held, ApiError> {
    let busy = || ApiError::new(ErrorCode::InstallRunning, "The agent is being installed or removed");
    agents.installs.hold(agent_id).ok_or_else(|| busy().with("agent_id", agent_id))
}

/// The answer where an agent that runs gave none: 409 where it wants to be signed in first, else what went wrong.
pub(super) fn refused(agents: &Agents, process: &AgentProcess, error: RpcError) -> ApiError {
    let methods = process.handshake().map_or(&[][..], |handshake| handshake.auth_methods());
    let tail = process.logs.stderr_tail();
    match error {
        RpcError::Fault(fault) if fault.code == code::AUTH_REQUIRED => {
            ApiError::new(ErrorCode::AgentAuthRequired, "The agent wants to be signed in first")
                .with("auth_methods", methods.to_vec())
        }
        RpcError::Fault(mut fault) => {
            fault.message = agents.masks.mask(&fault.message).into_owned();
            fault.data.iter_mut().for_each(|data| agents.masks.mask_json(data));
            no_answer(RpcError::Fault(fault)).with("stderr_tail", tail)
        }
        error => no_answer(error).with("stderr_tail", tail),
    }
}
