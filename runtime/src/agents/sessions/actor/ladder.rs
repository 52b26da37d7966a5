//! The rungs by which a conversation begins or goes on, tried off the session's task: the agent is started once, and asked
//! for what it says it can do, from the best to the least.
//!
//! - `rungs`: what the agent is asked for
//! - `dress`: options, once a conversation is open

mod dress;
mod rungs;

use super::Mailbox;
use super::begin::{How, Launch};
use super::branch::Unproven;
use crate::agents::acp::{Peer, RpcError, Wait, code};
use crate::agents::mcp::entries::{For, entries};
use crate::agents::options::Options;
use crate::agents::process::{AgentProcess, StartFor};
use crate::agents::sessions::client::Switches;
use crate::agents::sessions::details::{Continuity, Details};
use crate::agents::sessions::ear::Ear;
use crate::agents::sessions::{fault, story};
use crate::agents::skills::install;
use crate::agents::store::sessions::SessionRow;
use crate::app::App;
use crate::error::{ApiError, ErrorCode};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(30);

/// How long an agent may be silent while it opens a conversation: it connects its MCP servers then.
const SILENCE: Duration = Duration::from_secs(120);

/// A conversation that is to begin or to go on.
pub(super) struct Climb {
    pub(super) app: Arc<App>,
    pub(super) row: SessionRow,
    pub(super) details: Details,
    pub(super) ear: Arc<Ear>,
    pub(super) mailbox: Mailbox,
    pub(super) how: How,
}

/// It does.
pub(super) struct Up {
    pub(super) process: Arc<AgentProcess>,
    pub(super) native: String,
    pub(super) options: Options,
    pub(super) continuity: Continuity,
    pub(super) digest: Option<String>,
    pub(super) switches: Switches,
    pub(super) unproven: Option<Unproven>,
}

/// What a rung came to.
struct Opened {
    native: String,
    answer: Value,
    continuity: Continuity,
    digest: Option<String>,
    /// Of a branch: what to take it up with, should it not be live.
    unproven: Option<Unproven>,
}

impl Climb {
    /// Starts the agent and climbs. Nothing is left running where it fails.
    pub(super) async fn run(self, launch: Launch) -> Result<Up, ApiError> {
        let Launch { judge, place } = launch;
        let cwd = place.path.clone();
        let what = StartFor {
            judge: judge.clone(),
            place,
            session_id: Some(self.row.session_id.clone()),
            trace: self.details.trace,
            patience: Wait::total(HANDSHAKE),
        };
        let process = self.app.agents.start(&self.row.agent_id, what).await?;
        let opened = self.open(&process, &cwd, &judge).await;
        let up = match opened {
            Ok(opened) => self.dress(&process, opened).await,
            Err(error) => Err(error),
        };
        match up {
            Ok(up) => Ok(up),
            Err(error) => {
                process.stop(Duration::ZERO, true).await;
                Err(error)
            }
        }
    }

    async fn open(
        &self,
        process: &Arc<AgentProcess>,
        cwd: &str,
        judge: &crate::agents::process::Judge,
    ) -> Result<Opened, ApiError> {
        let whom =
            For { agent_id: &self.row.agent_id, cwd: &self.row.cwd, asked: self.details.mcp.as_deref() };
        let takes =
            |transport: &str| process.handshake().is_some_and(|handshake| handshake.takes_mcp(transport));
        let servers = entries(&self.app, judge, whom, takes).await?;
        install::install(&self.app, &self.row, self.details.skills.as_deref()).await?;
        let params = self.params(process, cwd, &servers);
        match &self.how {
            How::New => self.new_one(process, params, None).await,
            How::Again { resume, load, digest, verify } => {
                let rungs = [(*resume, "resume"), (*load, "load")];
                if let Some(native) = &self.row.native_session_id {
                    for (wanted, rung) in rungs {
                        if !wanted || !can(process, rung) {
                            continue;
                        }
                        match self.known(process, rung, native, params.clone()).await {
                            Ok(opened) if !verify || process.is_ready() => return Ok(opened),
                            Ok(_) => {}
                            Err(RpcError::Fault(fault)) if fault.code != code::AUTH_REQUIRED => {}
                            Err(error) => return Err(fault::of_rpc(process, error)),
                        }
                    }
                }
                if !*digest {
                    let message = "The agent cannot carry this conversation on in the ways that were allowed";
                    return Err(ApiError::new(ErrorCode::NotResumable, message));
                }
                let text = story::digest(&self.app, self.row.no, None).await?;
                self.new_one(process, params, Some(text)).await
            }
            How::Fork { native, digest, require_native } => {
                if let Some(parent) = native.as_ref().filter(|_| can(process, "fork")) {
                    match self.fork(process, parent, params.clone()).await {
                        Ok(opened) => return Ok(opened),
                        Err(RpcError::Fault(fault)) if fault.code != code::AUTH_REQUIRED => {}
                        Err(error) => return Err(fault::of_rpc(process, error)),
                    }
                }
                if *require_native {
                    let message = "The agent cannot branch this conversation natively";
                    return Err(
                        ApiError::new(ErrorCode::CapabilityMissing, message).with("capability", "fork")
                    );
                }
                self.new_one(process, params, Some(digest.clone())).await
            }
            How::Adopt { native } => self.adopt(process, native, params).await,
        }
    }

    /// `cwd`, servers and directories, as every way of opening takes them.
    fn params(&self, process: &AgentProcess, cwd: &str, servers: &[Value]) -> Map<String, Value> {
        let mut params = Map::new();
        params.insert("cwd".to_owned(), cwd.into());
        params.insert("mcpServers".to_owned(), servers.into());
        let directories = &self.details.additional_directories;
        if !directories.is_empty() && can(process, "additionalDirectories") {
            params.insert("additionalDirectories".to_owned(), json!(directories));
        }
        params
    }
}

/// Asks for a conversation. It may take as long as the agent says anything meanwhile.
pub(super) async fn request(
    peer: &Arc<Peer>,
    method: &str,
    params: Map<String, Value>,
) -> Result<Value, RpcError> {
    peer.request(method, &Value::Object(params), Wait::silence(SILENCE)).await
}

fn can(process: &AgentProcess, what: &str) -> bool {
    process.handshake().is_some_and(|handshake| handshake.can(what))
}

#[cfg(test)]
mod tests;
