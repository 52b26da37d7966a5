//! The rungs themselves: what an agent is asked for on each, and what its answer means.

use super::{Climb, Opened, can, request};
use crate::agents::acp::{RpcError, RpcFault, code};
use crate::agents::process::AgentProcess;
use crate::agents::sessions::actor::begin::Replay;
use crate::agents::sessions::details::Continuity;
use crate::agents::sessions::fault;
use crate::error::{ApiError, ErrorCode};
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::oneshot;

impl Climb {
    /// A new conversation, with what it is to be told of an older one.
    pub(super) async fn new_one(
        &self,
        process: &Arc<AgentProcess>,
        params: Map<String, Value>,
        digest: Option<String>,
    ) -> Result<Opened, ApiError> {
        let answer = request(&process.peer, "session/new", params).await;
        let answer = answer.map_err(|error| fault::of_rpc(process, error))?;
        let Some(native) = answer.get("sessionId").and_then(Value::as_str).map(str::to_owned) else {
            return Err(fault::protocol("The agent opened a session without naming it"));
        };
        process.attach(&native, &self.row.session_id, Arc::clone(&self.ear) as _);
        let continuity = if digest.is_some() { Continuity::Digest } else { Continuity::Live };
        let digest = digest.filter(|text| !text.is_empty());
        Ok(Opened { native, answer, continuity, digest, unproven: None })
    }

    /// `session/resume` or `session/load` of a conversation whose name is known: it is listened to before it is opened.
    pub(super) async fn known(
        &self,
        process: &Arc<AgentProcess>,
        rung: &str,
        native: &str,
        mut params: Map<String, Value>,
    ) -> Result<Opened, RpcError> {
        self.expect(Replay::Counted(0)).await;
        process.attach(native, &self.row.session_id, Arc::clone(&self.ear) as _);
        params.insert("sessionId".to_owned(), native.into());
        let answer = request(&process.peer, &format!("session/{rung}"), params).await;
        match answer {
            Ok(answer) => Ok(Self::opened(native, answer)),
            Err(error) => {
                process.detach(native);
                Err(error)
            }
        }
    }

    /// `session/fork`: the branch is live from then on, with most agents.
    pub(super) async fn fork(
        &self,
        process: &Arc<AgentProcess>,
        parent: &str,
        mut params: Map<String, Value>,
    ) -> Result<Opened, RpcError> {
        self.expect(Replay::Counted(0)).await;
        params.insert("sessionId".to_owned(), parent.into());
        let answer = request(&process.peer, "session/fork", params.clone()).await?;
        let Some(native) = answer.get("sessionId").and_then(Value::as_str).map(str::to_owned) else {
            let fault = RpcFault::new(code::INTERNAL, "the branch has no name");
            return Err(RpcError::Fault(fault));
        };
        process.attach(&native, &self.row.session_id, Arc::clone(&self.ear) as _);
        params.insert("sessionId".to_owned(), native.clone().into());
        let unproven = Some(params);
        Ok(Opened { native, answer, continuity: Continuity::Native, digest: None, unproven })
    }

    /// `session/load` of a conversation that is new to us: what it repeats becomes events.
    pub(super) async fn adopt(
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
        match request(&process.peer, "session/load", params).await {
            Ok(answer) => Ok(Self::opened(native, answer)),
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
            let Ok(page) = request(&process.peer, "session/list", params).await else { return false };
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

    /// The agent has the conversation.
    fn opened(native: &str, answer: Value) -> Opened {
        Opened {
            native: native.to_owned(),
            answer,
            continuity: Continuity::Native,
            digest: None,
            unproven: None,
        }
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
}
