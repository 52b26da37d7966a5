//! The next turn of a session, from its place among those that run to the answer of the agent. There is never a second
//! prompt open.

use super::{Actor, Kind, Link};
use crate::agents::acp::{RpcError, RpcFault, Wait, code};
use crate::agents::log::NewEvent;
use crate::agents::sessions::fault;
use crate::agents::store::now;
use crate::agents::store::turns::{self as turn_rows, TurnRow};
use crate::agents::turns::{self, rows};
use crate::agents::usage;
use crate::agents::workspace::points;
use crate::error::ErrorCode;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// The turn that runs.
pub(super) struct Running {
    pub(super) row: TurnRow,
    /// Our id of the open prompt.
    pub(super) request: Option<u64>,
    /// Why it is being cancelled: the stop reason that it will have.
    pub(super) cancelled: Option<&'static str>,
    /// Whether its agent is being killed for it.
    pub(super) forced: bool,
    /// Whether the prompt has its answer: only what was left on disk is looked at still.
    pub(super) answered: bool,
    /// Whether somebody has been warned of its cost.
    pub(super) warned: bool,
    _place: OwnedSemaphorePermit,
}

impl Running {
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.is_some()
    }

    /// The stop reason of a turn whose agent is gone, where somebody wanted it to end.
    pub(super) fn ending(&self) -> Option<&'static str> {
        match self.cancelled {
            Some("cancelled") if self.forced => Some("forced"),
            other => other,
        }
    }
}

impl Actor {
    /// Lets the next turn begin as soon as there is a place for it.
    pub(super) fn next_turn(&mut self) {
        if self.asked_for_seat || self.closing || self.link != Link::Live || !self.queue.can_start() {
            return;
        }
        self.asked_for_seat = true;
        let (places, mailbox) = (self.live.turns(), self.mailbox.clone());
        tokio::spawn(async move {
            // Never closed.
            if let Ok(place) = places.acquire_owned().await {
                mailbox.send(move |actor| Box::pin(actor.start_turn(place)));
            }
        });
    }

    async fn start_turn(&mut self, place: OwnedSemaphorePermit) {
        self.asked_for_seat = false;
        if self.closing || self.link != Link::Live {
            return;
        }
        let Some(turn_id) = self.queue.start().map(str::to_owned) else { return };
        let name = turn_id.clone();
        let found = self.store.read(move |db| turn_rows::find(db, &name)).await;
        let Ok(Some(mut row)) = found else {
            self.queue.finish(&turn_id);
            return;
        };
        let exhausted = self.details.budget.as_ref().and_then(|budget| budget.exhausted(&self.details.spent));
        if let Some(mark) = exhausted {
            self.queue.finish(&turn_id);
            let event = NewEvent::new(Kind::BudgetExceeded, json!(mark)).turn(turn_id.clone());
            self.say(vec![event]).await;
            let error =
                json!({"code": ErrorCode::BudgetExceeded.as_str(), "message": "The budget is used up"});
            return self.end_waiting(&turn_id, turns::FAILED, "budget", Some(error)).await;
        }
        self.speak_out().await;
        self.details.spent.turns += 1;
        row.state = turns::RUNNING.to_owned();
        row.started_at = Some(now());
        let event = NewEvent::new(Kind::TurnStarted, json!({"turn_id": turn_id})).turn(turn_id.clone());
        let started = row.started_at;
        let name = turn_id.clone();
        self.running = Some(Running {
            row,
            request: None,
            cancelled: None,
            forced: false,
            answered: false,
            warned: false,
            _place: place,
        });
        self.touch();
        if let Err(error) = self.commit(vec![event], move |db| rows::start(db, &name, started)).await {
            let error = json!({"code": ErrorCode::Internal.as_str(), "message": error.to_string()});
            return self.end_turn(turns::FAILED, Some("agent_exit"), Some(error), None).await;
        }
        // A checkpoint may take long: the session listens meanwhile.
        let (app, row, mailbox) = (self.app.clone(), self.row.clone(), self.mailbox.clone());
        tokio::spawn(async move {
            let checkpoint = points::before_turn(&app, &row, &turn_id).await;
            mailbox.send(move |actor| Box::pin(actor.send_prompt(turn_id, checkpoint)));
        });
    }

    async fn send_prompt(&mut self, turn_id: String, checkpoint: Option<String>) {
        let Some(running) = self.running.as_mut().filter(|running| running.row.turn_id == turn_id) else {
            return;
        };
        running.row.checkpoint_before = checkpoint;
        if let Some(reason) = running.cancelled {
            return self.end_turn(turns::CANCELLED, Some(reason), None, None).await;
        }
        let blocks = running.row.prompt.as_array().cloned().unwrap_or_default();
        let timeout = running.row.details.get("timeout_seconds").and_then(Value::as_f64);
        if self.agent().is_none() {
            return self.end_turn(turns::INTERRUPTED, Some("agent_exit"), None, None).await;
        }
        let said: Vec<NewEvent> = blocks
            .iter()
            .map(|block| {
                let data = json!({"role": "user", "content": block, "message_id": turn_id});
                NewEvent::new(Kind::MessageChunk, data).turn(turn_id.clone())
            })
            .collect();
        self.say(said).await;
        if let Some(timeout) = timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            let turn_id = turn_id.clone();
            self.after(timeout, move |actor| Box::pin(actor.timed_out(turn_id)));
        }
        self.prompt_agent(turn_id).await;
    }

    /// Tells the agent what the turn is about; its answer is heard of later.
    pub(super) async fn prompt_agent(&mut self, turn_id: String) {
        let Some((process, native)) = self.agent() else {
            return self.end_turn(turns::INTERRUPTED, Some("agent_exit"), None, None).await;
        };
        let asked = self.running.as_ref().and_then(|running| running.row.prompt.as_array());
        let mut blocks = asked.cloned().unwrap_or_default();
        if let Some(digest) = &self.details.digest {
            blocks.insert(0, json!({"type": "text", "text": digest}));
        }
        let asked = process.peer.ask("session/prompt", &json!({"sessionId": native, "prompt": blocks}));
        let mut pending = match asked {
            Ok(pending) => pending,
            Err(error) => return self.answered(turn_id, Err(error)).await,
        };
        if let Some(running) = &mut self.running {
            running.request = Some(pending.id());
        }
        // Told once.
        self.details.digest = None;
        self.touch();
        let mailbox = self.mailbox.clone();
        tokio::spawn(async move {
            let answer = pending.wait(Wait::FOREVER).await;
            mailbox.send(move |actor| Box::pin(actor.answered(turn_id, answer)));
        });
    }

    fn is_running(&self, turn_id: &str) -> bool {
        self.running.as_ref().is_some_and(|running| running.row.turn_id == turn_id && !running.is_cancelled())
    }

    async fn timed_out(&mut self, turn_id: String) {
        if self.queue.in_flight() == Some(turn_id.as_str()) {
            self.cancel_running("timeout", super::cancel::GRACE, true).await;
        }
    }

    /// The prompt has its answer.
    pub(super) async fn answered(&mut self, turn_id: String, answer: Result<Value, RpcError>) {
        if let Err(RpcError::Fault(fault)) = &answer
            && self.is_running(&turn_id)
            && self.take_up_branch(&turn_id, fault)
        {
            return;
        }
        self.unproven = None;
        let Some(running) = self.running.as_mut().filter(|running| running.row.turn_id == turn_id) else {
            return;
        };
        let wanted = running.ending();
        let failed = |fault: &RpcFault| {
            let mut error = json!({
                "code": ErrorCode::AgentProtocolError.as_str(), "message": fault.message,
                "rpc_error": fault::view(fault),
            });
            self.app.agents.masks.mask_json(&mut error);
            error
        };
        let (state, reason, error, usage) = match answer {
            Ok(answer) => {
                if let Some(usage) = answer.get("usage") {
                    self.details.spent.take_tokens(usage);
                }
                let reason = answer.get("stopReason").and_then(Value::as_str).unwrap_or("end_turn");
                // One that ended otherwise was done before it had heard.
                let state = if reason == "cancelled" { turns::CANCELLED } else { turns::COMPLETED };
                let reason = wanted.filter(|_| state == turns::CANCELLED).unwrap_or(reason);
                (state, Some(reason.to_owned()), None, usage::of_answer(&answer))
            }
            Err(RpcError::Fault(fault)) => match wanted {
                Some(wanted) => {
                    let error = (fault.code != code::CANCELLED).then(|| failed(&fault));
                    (turns::CANCELLED, Some(wanted.to_owned()), error, None)
                }
                None => (turns::FAILED, None, Some(failed(&fault)), None),
            },
            // Its end is heard too, and says more.
            Err(RpcError::Closed) if self.process.is_some() => return,
            Err(error) => {
                let code = ErrorCode::AgentUnavailable.as_str();
                let error = json!({"code": code, "message": error.to_string()});
                (turns::FAILED, None, Some(error), None)
            }
        };
        running.answered = true;
        running.request = None;
        let look = self.look_at_what_is_left(turn_id.clone());
        let mailbox = self.mailbox.clone();
        tokio::spawn(async move {
            look.await;
            mailbox.send(move |actor| {
                Box::pin(async move {
                    if actor.queue.in_flight() == Some(turn_id.as_str()) {
                        actor.end_turn(state, reason.as_deref(), error, usage).await;
                    }
                })
            });
        });
    }
}
