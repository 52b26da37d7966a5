//! The turns of a session: how one gets into the queue, runs, and ends. There is never a second prompt open.

use super::begin::{How, Launch};
use super::{Actor, Kind, Link};
use crate::agents::acp::{RpcError, RpcFault, Wait, code};
use crate::agents::log::NewEvent;
use crate::agents::sessions::fault;
use crate::agents::sessions::state::State;
use crate::agents::store::turns::{self as turn_rows, TurnRow};
use crate::agents::store::{now, sessions};
use crate::agents::turns::{self, attach, prompt::preview, rows};
use crate::agents::workspace::points;
use crate::agents::{artifacts, usage};
use crate::error::{ApiError, ErrorCode};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// Turns that may wait in one session.
const MOST_QUEUED: usize = 50;

/// What happens to a prompt for a session that is busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnBusy {
    /// It waits behind the others.
    #[default]
    Queue,
    /// The turn that runs is cancelled, and this one is next.
    Interrupt,
    /// It is refused.
    Reject,
}

/// A turn that is asked for.
#[derive(Debug)]
pub struct TurnAsked {
    /// Its id, which its attachments are stored under already.
    pub turn_id: String,
    /// Who asks.
    pub owner: String,
    /// Content blocks.
    pub blocks: Vec<Value>,
    /// What if the session is busy.
    pub on_busy: OnBusy,
    /// How long it may run.
    pub timeout: Option<Duration>,
    /// The schedule that asks.
    pub schedule_id: Option<String>,
    /// The turn that it repeats.
    pub retry_of: Option<String>,
    /// What it takes to bring the agent back, where it is gone.
    pub launch: Option<Launch>,
}

/// A turn that has been taken in.
#[derive(Debug, Clone, PartialEq)]
pub struct Queued {
    /// Its id.
    pub turn_id: String,
    /// Its place, from 1; absent where it is next and nothing holds it up.
    pub position: Option<usize>,
    /// The number of the event that says so.
    pub seq: i64,
}

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
    warned: bool,
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
    /// Takes a turn in.
    pub(crate) async fn queue_turn(&mut self, asked: TurnAsked) -> Result<Queued, ApiError> {
        let TurnAsked { turn_id, owner, blocks, on_busy, timeout, schedule_id, retry_of, launch } = asked;
        if self.link == Link::Closed || self.closing {
            return Err(ApiError::new(ErrorCode::SessionClosed, "The session is closed"));
        }
        if let Some(mark) =
            self.details.budget.as_ref().and_then(|budget| budget.exhausted(&self.details.spent))
        {
            return Err(ApiError::new(ErrorCode::BudgetExceeded, "The budget of the session is used up")
                .with("budget", json!(mark)));
        }
        let busy = !self.queue.is_empty();
        if busy && on_busy == OnBusy::Reject {
            return Err(ApiError::new(ErrorCode::SessionBusy, "The session is busy")
                .with("turn_id", self.queue.in_flight().map_or(Value::Null, Value::from)));
        }
        if self.queue.waiting().len() >= MOST_QUEUED {
            return Err(ApiError::new(ErrorCode::QueueFull, "Too many turns wait in the session")
                .with("limit", MOST_QUEUED)
                .retry_after(5));
        }
        let first = on_busy == OnBusy::Interrupt;
        let at = now();
        let mut details = serde_json::Map::new();
        if let Some(timeout) = timeout {
            details.insert("timeout_seconds".to_owned(), timeout.as_secs_f64().into());
        }
        if let Some(retry_of) = retry_of {
            details.insert("retry_of".to_owned(), retry_of.into());
        }
        let row = TurnRow {
            turn_id: turn_id.clone(),
            session: self.row.no,
            state: turns::QUEUED.to_owned(),
            owner,
            prompt_preview: preview(&blocks),
            prompt: blocks.into(),
            schedule_id,
            details,
            queued_at: at,
            ..TurnRow::default()
        };
        let position = if first { 1 } else { self.queue.waiting().len() + 1 };
        let data = json!({
            "turn_id": turn_id, "position": position, "prompt_preview": row.prompt_preview,
            "schedule_id": row.schedule_id,
        });
        let event = NewEvent::new(Kind::TurnQueued, data).turn(turn_id.clone());
        let session_id = self.row.session_id.clone();
        let (_, events) =
            self.log.append_with(&session_id, vec![event], move |db| rows::insert(db, row, first)).await?;
        if first {
            self.queue.push_front(turn_id.clone());
            self.cancel_running("cancelled", super::cancel::GRACE, true).await;
        } else if self.queue.push(turn_id.clone(), MOST_QUEUED).is_err() {
            return Err(ApiError::internal("The queue of the session is out of step"));
        }
        if !matches!(self.link, Link::Live | Link::Starting)
            && let Some(launch) = launch
        {
            let (waiter, came_up) = oneshot::channel();
            self.begin(launch, How::ANY, waiter);
            let (mailbox, turn) = (self.mailbox.clone(), turn_id.clone());
            tokio::spawn(async move {
                if let Ok(Err(error)) = came_up.await {
                    mailbox.send(move |actor| Box::pin(actor.not_resumed(turn, error)));
                }
            });
        }
        let seq = events.iter().map(|event| event.seq).max().unwrap_or(self.row.last_seq);
        Ok(Queued { turn_id, position: busy.then_some(position), seq })
    }

    /// The agent did not come back for a turn that was to bring it back: the turn fails, others wait on.
    async fn not_resumed(&mut self, turn_id: String, error: ApiError) {
        if self.queue.remove(&turn_id) {
            let said = json!({"code": error.code().as_str(), "message": error.message()});
            self.end_waiting(&turn_id, turns::FAILED, "agent_exit", Some(said)).await;
        }
    }

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
            return self.end_turn(turns::FAILED, "agent_exit", Some(error), None).await;
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
            return self.end_turn(turns::CANCELLED, reason, None, None).await;
        }
        let (Some(process), Some(native)) = (self.process.clone(), self.row.native_session_id.clone()) else {
            return self.end_turn(turns::INTERRUPTED, "agent_exit", None, None).await;
        };
        let mut blocks = running.row.prompt.as_array().cloned().unwrap_or_default();
        let timeout = running.row.details.get("timeout_seconds").and_then(Value::as_f64);
        let said: Vec<NewEvent> = blocks
            .iter()
            .map(|block| {
                let data = json!({"role": "user", "content": block, "message_id": turn_id});
                NewEvent::new(Kind::MessageChunk, data).turn(turn_id.clone())
            })
            .collect();
        self.say(said).await;
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
        if let Some(timeout) = timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            let turn_id = turn_id.clone();
            self.after(timeout, move |actor| Box::pin(actor.timed_out(turn_id)));
        }
        let mailbox = self.mailbox.clone();
        tokio::spawn(async move {
            let answer = pending.wait(Wait::FOREVER).await;
            mailbox.send(move |actor| Box::pin(actor.answered(turn_id, answer)));
        });
    }

    async fn timed_out(&mut self, turn_id: String) {
        if self.queue.in_flight() == Some(turn_id.as_str()) {
            self.cancel_running("timeout", super::cancel::GRACE, true).await;
        }
    }

    /// The prompt has its answer.
    async fn answered(&mut self, turn_id: String, answer: Result<Value, RpcError>) {
        let Some(running) = self.running.as_mut().filter(|running| running.row.turn_id == turn_id) else {
            return;
        };
        let wanted = running.ending();
        let failed = |fault: &RpcFault| {
            json!({
                "code": ErrorCode::AgentProtocolError.as_str(), "message": fault.message,
                "rpc_error": fault::view(fault),
            })
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
                (state, reason.to_owned(), None, usage::of_answer(&answer))
            }
            Err(RpcError::Fault(fault)) => match wanted {
                Some(wanted) => {
                    let error = (fault.code != code::CANCELLED).then(|| failed(&fault));
                    (turns::CANCELLED, wanted.to_owned(), error, None)
                }
                None => (turns::FAILED, "error".to_owned(), Some(failed(&fault)), None),
            },
            // Its end is heard too, and says more.
            Err(RpcError::Closed) if self.process.is_some() => return,
            Err(error) => {
                let code = ErrorCode::AgentUnavailable.as_str();
                let error = json!({"code": code, "message": error.to_string()});
                (turns::FAILED, "error".to_owned(), Some(error), None)
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
                        actor.end_turn(state, &reason, error, usage).await;
                    }
                })
            });
        });
    }

    /// The turn that runs is over.
    pub(super) async fn end_turn(
        &mut self,
        state: &'static str,
        reason: &str,
        error: Option<Value>,
        usage: Option<Value>,
    ) {
        self.cancel_requests().await;
        let Some(running) = self.running.take() else { return };
        let turn_id = running.row.turn_id.clone();
        self.queue.finish(&turn_id);
        self.touch();
        let mut data = json!({"turn_id": turn_id, "state": state, "stop_reason": reason});
        if let Some(data) = data.as_object_mut() {
            if let Some(error) = &error {
                data.insert("error".to_owned(), error.clone());
            }
            if let Some(usage) = usage {
                data.insert("usage".to_owned(), usage);
            }
            if running.forced {
                data.insert("forced".to_owned(), true.into());
            }
        }
        let checkpoint = running.row.checkpoint_before.clone();
        let ending =
            rows::Ending { state, reason: reason.to_owned(), error, at: now(), forced: running.forced };
        let event = NewEvent::new(turns::ending_kind(state), data).turn(turn_id.clone());
        let name = turn_id.clone();
        let events = std::iter::once(event).chain(self.state_changed()).collect();
        let row = self.snapshot();
        // Whoever sees that the turn has ended sees what the session is now.
        let stored = self.commit(events, move |db| {
            rows::end(db, &name, &ending, checkpoint.as_deref())?;
            sessions::update(db, &row).map(|_| ())
        });
        if let Err(error) = stored.await {
            crate::log::say(format_args!("the end of `{turn_id}` was not stored: {error}"));
        }
        self.live.tell();
    }

    /// A turn ends that never ran.
    pub(super) async fn end_waiting(
        &mut self,
        turn_id: &str,
        state: &'static str,
        reason: &str,
        error: Option<Value>,
    ) {
        let data = json!({"turn_id": turn_id, "state": state, "stop_reason": reason, "error": error});
        let event = NewEvent::new(turns::ending_kind(state), data).turn(turn_id);
        let ending = rows::Ending { state, reason: reason.to_owned(), error, at: now(), forced: false };
        let name = turn_id.to_owned();
        if let Err(error) = self.commit(vec![event], move |db| rows::end(db, &name, &ending, None)).await {
            crate::log::say(format_args!("the end of `{turn_id}` was not stored: {error}"));
        }
        self.live.tell();
    }

    /// The row of the turn that runs says whether it waits.
    pub(super) async fn turn_waits(&mut self) {
        let state = self.state();
        let Some(running) = &mut self.running else { return };
        let wanted = if state == State::Waiting { turns::WAITING } else { turns::RUNNING };
        if running.row.state != wanted {
            running.row.state = wanted.to_owned();
            let turn_id = running.row.turn_id.clone();
            if let Err(error) = self.store.write(move |db| rows::set_state(db, &turn_id, wanted)).await {
                crate::log::say(format_args!("the state of a turn was not stored: {error}"));
            }
        }
    }

    /// Warns of a budget that is nearly used up, once a turn, and ends the turn that has passed it.
    pub(super) async fn check_budget(&mut self) {
        let Some(budget) = &self.details.budget else { return };
        let (exceeded, nearly) = (budget.exceeded(&self.details.spent), budget.nearly(&self.details.spent));
        let Some(running) = &mut self.running else { return };
        if let Some(mark) = exceeded {
            if running.cancelled.is_none() {
                let event = self.event(Kind::BudgetExceeded, json!(mark));
                self.say(vec![event]).await;
                self.cancel_running("budget", super::cancel::GRACE, true).await;
            }
        } else if let Some(mark) = nearly
            && !std::mem::replace(&mut running.warned, true)
        {
            let event = self.event(Kind::BudgetWarning, json!(mark));
            self.say(vec![event]).await;
        }
    }

    /// What the turn leaves on disk: the workspace as it is now, and files of the outputs folder.
    pub(super) fn look_at_what_is_left(&self, turn_id: String) -> impl Future<Output = ()> + Send + 'static {
        let (app, row, log) = (self.app.clone(), self.row.clone(), self.log.clone());
        let place = self.store.place().clone();
        async move {
            points::after_turn(&app, &row, &turn_id).await;
            let folder = attach::outputs(&row.cwd, &row.session_id);
            match artifacts::outputs(&place, &row.session_id, folder.as_ref()).await {
                Ok(events) if !events.is_empty() => {
                    let events = events.into_iter().map(|event| event.turn(turn_id.clone())).collect();
                    // A session that was deleted meanwhile has no outputs.
                    let _ = log.append(&row.session_id, events).await;
                }
                Ok(_) => {}
                Err(error) => crate::log::say(format_args!("the outputs folder was not read: {error}")),
            }
        }
    }
}
