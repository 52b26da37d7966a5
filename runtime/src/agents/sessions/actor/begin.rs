//! An agent comes up for the session, for the first time or again.

use super::ladder::{Climb, Up};
use super::{Actor, Kind, Link};
use crate::agents::process::{Judge, Workplace};
use crate::agents::sessions::details::Continuity;
use crate::agents::sessions::ear::Ear;
use crate::error::{ApiError, ErrorCode};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Whoever waits for the agent to come up.
pub(super) type Waiter = oneshot::Sender<Result<Began, ApiError>>;

/// What becomes of updates that repeat what was said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Replay {
    /// None are expected: updates are events.
    #[default]
    None,
    /// They are counted, and are no events: the log has them already.
    Counted(u64),
    /// They are events of a conversation that is new to us.
    Imported(u64),
}

/// What it takes to start an agent.
#[derive(Debug)]
pub struct Launch {
    /// By whose rules.
    pub judge: Judge,
    /// Where.
    pub place: Workplace,
}

/// How the conversation begins, or goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// A new one.
    New,
    /// The one that the session has; by the first of these that works.
    Again {
        /// `session/resume`.
        resume: bool,
        /// `session/load`.
        load: bool,
        /// A new one that begins with a digest.
        digest: bool,
        /// Whether the agent must still be there a moment later.
        verify: bool,
    },
    /// A branch of another.
    Fork {
        /// The agent's name of the conversation that is branched, where it can be done natively.
        native: Option<String>,
        /// The text that stands for it otherwise.
        digest: String,
        /// Whether only a native branch will do.
        require_native: bool,
    },
    /// One that the agent has kept by itself.
    Adopt {
        /// The agent's name of it.
        native: String,
    },
}

impl How {
    /// Any way to go on.
    pub const ANY: Self = Self::Again { resume: true, load: true, digest: true, verify: true };

    fn is_first(&self) -> bool {
        !matches!(self, Self::Again { .. })
    }
}

/// The agent is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Began {
    /// How the conversation goes on.
    pub continuity: Continuity,
    /// Updates that repeated what was said before.
    pub replayed: u64,
}

impl Actor {
    /// Brings the agent up, unless it is, and tells `waiter`.
    pub(crate) fn begin(&mut self, launch: Launch, how: How, waiter: Waiter) {
        match self.link {
            Link::Live => {
                let began = Began { continuity: Continuity::Live, replayed: 0 };
                return drop(waiter.send(Ok(began)));
            }
            Link::Starting if self.process.is_some() || !self.starting.is_empty() => {
                return self.starting.push(waiter);
            }
            _ => {}
        }
        if self.seat.is_none() {
            match self.live.seat() {
                Ok(seat) => self.seat = Some(seat),
                Err(full) => return drop(waiter.send(Err(full))),
            }
        }
        self.link = Link::Starting;
        self.starting.push(waiter);
        self.generation += 1;
        self.touch();
        let masks = Arc::clone(&self.app.agents.masks);
        let ear = Arc::new(Ear::new(self.frames.clone(), self.generation, self.mailbox.clone(), masks));
        let climb = Climb {
            app: Arc::clone(&self.app),
            row: self.row.clone(),
            details: self.details.clone(),
            ear,
            mailbox: self.mailbox.clone(),
            how,
        };
        let mailbox = self.mailbox.clone();
        tokio::spawn(async move {
            let first = climb.how.is_first();
            let up = climb.run(launch).await;
            mailbox.send(move |actor| Box::pin(actor.began(up, first)));
        });
    }

    /// A seat that was taken before the session was stored.
    pub(crate) fn sit(&mut self, seat: tokio::sync::OwnedSemaphorePermit) {
        self.seat = Some(seat);
    }

    /// What repeats is told apart from now on. Answers when everything said before has been heard.
    pub(super) fn expect(&mut self, replay: Replay) {
        self.replay = replay;
    }

    async fn began(&mut self, up: Result<Up, ApiError>, first: bool) {
        self.speak_out().await;
        let replayed = match std::mem::take(&mut self.replay) {
            Replay::None => 0,
            Replay::Counted(count) | Replay::Imported(count) => count,
        };
        let up = up.and_then(|up| {
            // It may have ended since.
            if up.process.is_ready() {
                Ok(up)
            } else {
                Err(unavailable().with("stderr_tail", up.process.logs.stderr_tail()))
            }
        });
        match up {
            Ok(up) => self.is_up(up, first, replayed).await,
            Err(error) => self.is_not_up(error, first).await,
        }
    }

    async fn is_up(&mut self, up: Up, first: bool, replayed: u64) {
        let Up { process, native, options, continuity, digest, switches, unproven } = up;
        self.switches = switches;
        self.unproven = unproven;
        if let Some(handshake) = process.handshake() {
            self.details.capabilities =
                handshake.result.get("agentCapabilities").cloned().unwrap_or_else(|| json!({}));
            self.details.steers = handshake.steers();
        }
        self.options = options;
        self.details.continuity = Some(continuity);
        self.details.process_id = Some(process.id.clone());
        self.details.processes.push(process.id.clone());
        self.details.error = None;
        if digest.is_some() {
            self.details.digest = digest;
        }
        self.details.spent.restarted();
        self.row.native_session_id = Some(native);
        self.row.closed_at = None;
        self.link = Link::Live;
        let mut events =
            vec![self.event(Kind::ProcessStarted, json!({"process_id": process.id, "pid": process.job.pid}))];
        if !first {
            let data = json!({"continuity": continuity, "replayed_updates": replayed});
            events.push(self.event(Kind::SessionResumed, data));
        }
        let views = self.options.views();
        if !views.is_empty() {
            events.push(self.event(Kind::OptionsUpdated, json!({"options": views})));
        }
        self.process = Some(process);
        events.extend(self.state_changed());
        let saved = self.save(events).await;
        let began = saved.map(|()| Began { continuity, replayed }).map_err(ApiError::from);
        self.tell_starters(began);
    }

    async fn is_not_up(&mut self, error: ApiError, first: bool) {
        self.link = if first { Link::Failed } else { Link::Gone };
        self.seat = None;
        let said = json!({"code": error.code().as_str(), "message": error.message()});
        self.details.error = Some(said.clone());
        let mut events = vec![self.event(Kind::SessionUpdated, json!({"error": said}))];
        events.extend(self.state_changed());
        if let Err(error) = self.save(events).await {
            crate::log::say(format_args!("the state of `{}` was not stored: {error}", self.row.session_id));
        }
        self.tell_starters(Err(error));
    }

    /// The first of those who wait gets the whole error, the others what it says.
    fn tell_starters(&mut self, began: Result<Began, ApiError>) {
        let mut waiting = std::mem::take(&mut self.starting).into_iter();
        match began {
            Ok(began) => waiting.for_each(|waiter| drop(waiter.send(Ok(began)))),
            Err(error) => {
                let (code, message) = (error.code(), error.message().to_owned());
                if let Some(first) = waiting.next() {
                    drop(first.send(Err(error)));
                }
                for waiter in waiting {
                    drop(waiter.send(Err(ApiError::new(code, message.clone()))));
                }
            }
        }
    }
}

fn unavailable() -> ApiError {
    ApiError::new(ErrorCode::AgentUnavailable, "The agent ended while it was being started")
}
