//! The end of a session: work is stopped, the process is let go, the history stays.

use super::cancel::{GRACE, LAST};
use super::{Actor, Kind, Link};
use crate::agents::acp::Wait;
use crate::agents::skills::install;
use crate::agents::store::now;
use crate::agents::turns;
use serde_json::{Map, json};
use std::time::Duration;
use tokio::sync::oneshot;

/// How long an agent may take to close a conversation, or to delete one.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits between looks at whether the turn that is being cancelled has ended.
const LOOK: Duration = Duration::from_millis(20);

impl Actor {
    /// Closes the session. `told` gets the turns that were cancelled, when it is closed.
    pub(crate) async fn close(&mut self, force: bool, told: oneshot::Sender<Vec<String>>) {
        if self.link == Link::Closed {
            return drop(told.send(Vec::new()));
        }
        self.closing = true;
        let mut cancelled = self.queue.clear();
        for turn_id in &cancelled {
            self.end_waiting(turn_id, turns::CANCELLED, "cancelled", None).await;
        }
        cancelled.extend(self.queue.in_flight().map(str::to_owned));
        let grace = if force { Duration::ZERO } else { GRACE / 2 };
        self.cancel_running("cancelled", grace, true).await;
        self.close_when_idle(told, cancelled);
    }

    /// Looks again until nothing runs, then lets the process go.
    fn close_when_idle(&mut self, told: oneshot::Sender<Vec<String>>, cancelled: Vec<String>) {
        if self.running.is_some() || self.link == Link::Starting {
            return self.after(LOOK, move |actor| {
                actor.close_when_idle(told, cancelled);
                Box::pin(std::future::ready(()))
            });
        }
        let (process, native) = (self.process.clone(), self.row.native_session_id.clone());
        let (app, mailbox, session) = (self.app.clone(), self.mailbox.clone(), self.row.clone());
        tokio::spawn(async move {
            if let (Some(process), Some(native)) = (process, native) {
                if process.handshake().is_some_and(|handshake| handshake.can("close")) {
                    let mut params = Map::new();
                    params.insert("sessionId".to_owned(), native.as_str().into());
                    // Whatever it says, it is let go.
                    let _ =
                        process.peer.request("session/close", &params.into(), Wait::total(PATIENCE)).await;
                }
                app.agents.processes.release(&process, &native).await;
            }
            // What stays of a skill is a file that its owner may delete.
            if let Err(error) = install::remove(&app, &session).await {
                crate::log::say(format_args!("skills were left behind: {error}"));
            }
            mailbox.send(move |actor| Box::pin(actor.closed(told, cancelled)));
        });
    }

    async fn closed(&mut self, told: oneshot::Sender<Vec<String>>, cancelled: Vec<String>) {
        self.speak_out().await;
        self.closing = false;
        self.process = None;
        self.generation += 1;
        self.seat = None;
        self.link = Link::Closed;
        self.row.closed_at = Some(now());
        self.row.archived |= self.details.ephemeral;
        self.details.process_id = None;
        let mut events = self.lose_requests("cancelled");
        events.push(self.event(Kind::SessionClosed, json!({"cancelled_turns": cancelled})));
        events.extend(self.state_changed());
        if let Err(error) = self.save(events).await {
            crate::log::say(format_args!("the end of `{}` was not stored: {error}", self.row.session_id));
        }
        drop(told.send(cancelled));
    }

    /// The agent deletes its own copy of the conversation, where it can. Whether it did.
    pub(crate) fn delete_native(&mut self, told: oneshot::Sender<bool>) {
        let (Some(process), Some(native)) = (self.process.clone(), self.row.native_session_id.clone()) else {
            // Whoever waits may have left.
            let _ = told.send(false);
            return;
        };
        tokio::spawn(async move {
            let can = process.handshake().is_some_and(|handshake| handshake.can("delete"));
            let params = json!({"sessionId": native});
            let done =
                can && process.peer.request("session/delete", &params, Wait::total(PATIENCE)).await.is_ok();
            let _ = told.send(done);
        });
    }

    /// The session is gone from the store: nothing is written any more.
    pub(crate) fn forget(&mut self) {
        "deleted".clone_into(&mut self.row.state);
        self.link = Link::Closed;
        self.dirty = false;
    }

    /// How long a close may take at most.
    pub(crate) const CLOSES_WITHIN: Duration =
        Duration::from_secs(GRACE.as_secs() + LAST.as_secs() + PATIENCE.as_secs() + 20);

    /// Whether a turn runs or waits.
    #[must_use]
    pub(crate) fn is_busy(&self) -> bool {
        !self.queue.is_empty()
    }
}
