//! How a turn gets into the queue of its session.

use super::begin::{How, Launch};
use super::{Actor, Kind, Link};
use crate::agents::log::NewEvent;
use crate::agents::store::now;
use crate::agents::store::turns::TurnRow;
use crate::agents::turns::{self, prompt::preview, rows};
use crate::error::{ApiError, ErrorCode};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::oneshot;

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
    /// Artifacts of what was attached and is in none of the blocks.
    pub attached: Vec<NewEvent>,
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

impl Actor {
    /// Takes a turn in.
    pub(crate) async fn queue_turn(&mut self, asked: TurnAsked) -> Result<Queued, ApiError> {
        let TurnAsked { turn_id, owner, blocks, attached, on_busy, timeout, schedule_id, retry_of, launch } =
            asked;
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
        let event = NewEvent::new(Kind::TurnQueued, data);
        let told = std::iter::once(event).chain(attached).map(|event| event.turn(turn_id.clone())).collect();
        let session_id = self.row.session_id.clone();
        let (_, events) =
            self.log.append_with(&session_id, told, move |db| rows::insert(db, row, first)).await?;
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
        let said = events.iter().find(|event| event.kind == Kind::TurnQueued);
        let seq = said.map_or(self.row.last_seq, |event| event.seq);
        Ok(Queued { turn_id, position: busy.then_some(position), seq })
    }

    /// The agent did not come back for a turn that was to bring it back: the turn fails, others wait on.
    async fn not_resumed(&mut self, turn_id: String, error: ApiError) {
        if self.queue.remove(&turn_id) {
            let said = json!({"code": error.code().as_str(), "message": error.message()});
            self.end_waiting(&turn_id, turns::FAILED, "agent_exit", Some(said)).await;
        }
    }
}
