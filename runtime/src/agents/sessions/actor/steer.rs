//! A word to the turn that runs: injected where the agent can take one, else by what the caller has chosen.

use super::Actor;
use super::intake::{OnBusy, TurnAsked};
use crate::agents::acp::Wait;
use crate::agents::store::turns as turn_rows;
use crate::agents::turns;
use crate::error::{ApiError, ErrorCode};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::oneshot;

/// How long an agent may take to say whether it takes a word.
const PATIENCE: Duration = Duration::from_secs(30);

/// What happens where the agent cannot take a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fallback {
    /// It becomes the next prompt.
    #[default]
    Queue,
    /// The turn is cancelled, and it becomes the prompt of another.
    CancelAndResend,
    /// It is refused.
    Reject,
}

/// What became of the word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steered {
    /// `injected`, `restarted` or `queued`.
    pub outcome: &'static str,
    /// The turn that carries it.
    pub turn_id: String,
}

/// Where the answer goes.
pub(crate) type Told = oneshot::Sender<Result<Steered, ApiError>>;

impl Actor {
    /// Steers the turn that runs. `asked` is the turn that carries the word where the agent cannot take it.
    pub(crate) async fn steer(&mut self, turn_id: String, asked: TurnAsked, fallback: Fallback, told: Told) {
        if let Err(error) = self.runs(&turn_id).await {
            return drop(told.send(Err(error)));
        }
        let native = self.row.native_session_id.clone();
        let (Some(process), Some(native), true) = (self.process.clone(), native, self.details.steers) else {
            let steered = self.fall_back(turn_id, asked, fallback).await;
            return drop(told.send(steered));
        };
        let mailbox = self.mailbox.clone();
        let params = json!({"sessionId": native, "prompt": asked.blocks});
        tokio::spawn(async move {
            let answer = process.peer.request("_session/steering", &params, Wait::total(PATIENCE)).await;
            let outcome = answer
                .ok()
                .and_then(|answer| answer.get("outcome").and_then(Value::as_str).map(str::to_owned));
            // A turn that the agent began by itself carries on the one that we know of.
            if matches!(outcome.as_deref(), Some("injected" | "startedNewTurn")) {
                return drop(told.send(Ok(Steered { outcome: "injected", turn_id })));
            }
            mailbox.send(move |actor| {
                Box::pin(async move {
                    let steered = actor.fall_back(turn_id, asked, fallback).await;
                    drop(told.send(steered));
                })
            });
        });
    }

    async fn fall_back(
        &mut self,
        turn_id: String,
        mut asked: TurnAsked,
        fallback: Fallback,
    ) -> Result<Steered, ApiError> {
        match fallback {
            Fallback::Reject => {
                Err(ApiError::new(ErrorCode::NotSteerable, "The agent takes no word while it works")
                    .with("turn_id", turn_id))
            }
            Fallback::Queue => {
                let queued = self.queue_turn(asked).await?;
                Ok(Steered { outcome: "queued", turn_id: queued.turn_id })
            }
            Fallback::CancelAndResend => {
                asked.on_busy = OnBusy::Interrupt;
                let queued = self.queue_turn(asked).await?;
                Ok(Steered { outcome: "restarted", turn_id: queued.turn_id })
            }
        }
    }

    /// Whether the turn is the one that runs.
    async fn runs(&self, turn_id: &str) -> Result<(), ApiError> {
        if self.queue.in_flight() == Some(turn_id) {
            return Ok(());
        }
        let (name, session) = (turn_id.to_owned(), self.row.no);
        let found = self.store.read(move |db| turn_rows::find(db, &name)).await?;
        match found.filter(|row| row.session == session) {
            None => Err(turns::not_found(turn_id)),
            Some(row) if row.state == turns::QUEUED => {
                Err(ApiError::new(ErrorCode::NotSteerable, "The turn has not begun").with("turn_id", turn_id))
            }
            Some(row) => Err(ApiError::new(ErrorCode::TurnFinished, "The turn has ended")
                .with("turn_id", turn_id)
                .with("state", row.state)),
        }
    }
}
