//! The rungs by which a conversation begins or goes on, tried off the session's task: the agent is started once, and asked
//! for what it says it can do, from the best to the least.

use super::Mailbox;
use super::begin::{How, Launch, Replay};
use crate::agents::acp::{RpcError, Wait, code};
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
use tokio::sync::oneshot;

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(30);

/// How long an agent may be silent while it opens a conversation: it connects its MCP servers then.
const SILENCE: Duration = Duration::from_secs(120);

/// How long one option may take to be set.
const OPTION: Duration = Duration::from_secs(30);

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
}

/// What a rung came to.
struct Opened {
    native: String,
    answer: Value,
    continuity: Continuity,
    digest: Option<String>,
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

    async fn new_one(
        &self,
        process: &Arc<AgentProcess>,
        params: Map<String, Value>,
        digest: Option<String>,
    ) -> Result<Opened, ApiError> {
        let answer = request(process, "session/new", params).await;
        let answer = answer.map_err(|error| fault::of_rpc(process, error))?;
        let Some(native) = answer.get("sessionId").and_then(Value::as_str).map(str::to_owned) else {
            return Err(fault::protocol("The agent opened a session without naming it"));
        };
        process.attach(&native, &self.row.session_id, Arc::clone(&self.ear) as _);
        let continuity = if digest.is_some() { Continuity::Digest } else { Continuity::Live };
        let digest = digest.filter(|text| !text.is_empty());
        Ok(Opened { native, answer, continuity, digest })
    }

    /// `session/resume` or `session/load` of a conversation whose name is known: it is listened to before it is opened.
    async fn known(
        &self,
        process: &Arc<AgentProcess>,
        rung: &str,
        native: &str,
        mut params: Map<String, Value>,
    ) -> Result<Opened, RpcError> {
        self.expect(Replay::Counted(0)).await;
        process.attach(native, &self.row.session_id, Arc::clone(&self.ear) as _);
        params.insert("sessionId".to_owned(), native.into());
        let answer = request(process, &format!("session/{rung}"), params).await;
        match answer {
            Ok(answer) => {
                Ok(Opened { native: native.to_owned(), answer, continuity: Continuity::Native, digest: None })
            }
            Err(error) => {
                process.detach(native);
                Err(error)
            }
        }
    }

    /// `session/fork`, then resume or load where the branch is not live by that alone.
    async fn fork(
        &self,
        process: &Arc<AgentProcess>,
        parent: &str,
        mut params: Map<String, Value>,
    ) -> Result<Opened, RpcError> {
        self.expect(Replay::Counted(0)).await;
        params.insert("sessionId".to_owned(), parent.into());
        let answer = request(process, "session/fork", params.clone()).await?;
        let Some(native) = answer.get("sessionId").and_then(Value::as_str).map(str::to_owned) else {
            let fault = crate::agents::acp::RpcFault::new(code::INTERNAL, "the branch has no name");
            return Err(RpcError::Fault(fault));
        };
        process.attach(&native, &self.row.session_id, Arc::clone(&self.ear) as _);
        Ok(Opened { native, answer, continuity: Continuity::Native, digest: None })
    }

    /// `session/load` of a conversation that is new to us: what it repeats becomes events.
    async fn adopt(
        &self,
        process: &Arc<AgentProcess>,
        native: &str,
        mut params: Map<String, Value>,
    ) -> Result<Opened, ApiError> {
        if !can(process, "load") {
            let message = "The agent cannot load a stored conversation";
            return Err(ApiError::new(ErrorCode::CapabilityMissing, message).with("capability", "load"));
        }
        self.expect(Replay::Imported(0)).await;
        process.attach(native, &self.row.session_id, Arc::clone(&self.ear) as _);
        params.insert("sessionId".to_owned(), native.into());
        match request(process, "session/load", params).await {
            Ok(answer) => {
                Ok(Opened { native: native.to_owned(), answer, continuity: Continuity::Native, digest: None })
            }
            Err(RpcError::Fault(fault))
                if fault.code == code::NOT_FOUND
                    || (fault.code == code::INTERNAL && !self.is_listed(process, native).await) =>
            {
                let message = "The agent has no conversation of that name";
                Err(ApiError::new(ErrorCode::NativeSessionNotFound, message)
                    .with("native_session_id", native))
            }
            Err(error) => Err(fault::of_rpc(process, error)),
        }
    }

    /// Whether the agent lists the conversation; it does not where it cannot list.
    async fn is_listed(&self, process: &Arc<AgentProcess>, native: &str) -> bool {
        let mut cursor = Value::Null;
        // An agent whose list never ends is asked no further.
        for _ in 0..50 {
            let mut params = Map::new();
            if !cursor.is_null() {
                params.insert("cursor".to_owned(), cursor);
            }
            if !can(process, "list") {
                return false;
            }
            let Ok(page) = request(process, "session/list", params).await else { return false };
            let sessions = page.get("sessions").and_then(Value::as_array).into_iter().flatten();
            if sessions.filter_map(|one| one.get("sessionId")).any(|id| id.as_str() == Some(native)) {
                return true;
            }
            cursor = page.get("nextCursor").cloned().unwrap_or_default();
            if cursor.is_null() {
                return false;
            }
        }
        false
    }

    /// Waits until the session's task knows that repeated updates follow.
    async fn expect(&self, replay: Replay) {
        let (tell, told) = oneshot::channel();
        self.mailbox.send(move |actor| {
            actor.expect(replay);
            // Whoever waits may have gone.
            let _ = tell.send(());
            Box::pin(std::future::ready(()))
        });
        let _ = told.await;
    }

    /// Chooses the options that callers want. A new session fails by a value that cannot be chosen; one that goes on
    /// leaves it.
    async fn dress(&self, process: &Arc<AgentProcess>, opened: Opened) -> Result<Up, ApiError> {
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
        let Opened { native, continuity, digest, .. } = opened;
        let entry = self.app.agents.entry(&self.row.agent_id).await?;
        let recipe = entry.map(|entry| entry.recipe()).unwrap_or_default();
        let switches = Switches { files: recipe.client_fs, terminals: recipe.client_terminal };
        Ok(Up { process: Arc::clone(process), native, options, continuity, digest, switches })
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

async fn request(
    process: &Arc<AgentProcess>,
    method: &str,
    params: Map<String, Value>,
) -> Result<Value, RpcError> {
    process.peer.request(method, &Value::Object(params), Wait::silence(SILENCE)).await
}

fn can(process: &AgentProcess, what: &str) -> bool {
    process.handshake().is_some_and(|handshake| handshake.can(what))
}
