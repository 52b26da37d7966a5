//! Cancelling a turn, in steps: the agent is told and everything it asks is answered; after the grace the request itself is
//! cancelled; then its process is killed, and the turn says that it was forced.

use super::Actor;
use super::prompt::Running;
use crate::agents::store::turns as turn_rows;
use crate::agents::turns;
use crate::error::{ApiError, ErrorCode};
use serde_json::json;
use std::time::Duration;

/// How long an agent may take to stop where nobody says.
pub(crate) const GRACE: Duration = Duration::from_secs(10);

/// How long it may take after its request was cancelled.
pub(crate) const LAST: Duration = Duration::from_secs(2);

/// What has been done about it at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancelled {
    /// Requests that were answered as cancelled.
    pub requests: Vec<String>,
}

impl Actor {
    /// Cancels a turn that runs or waits.
    pub(crate) async fn cancel_turn(
        &mut self,
        turn_id: String,
        grace: Duration,
        force: bool,
    ) -> Result<Cancelled, ApiError> {
        if self.queue.in_flight() == Some(turn_id.as_str()) {
            let requests = self.cancel_running("cancelled", grace, force).await;
            return Ok(Cancelled { requests });
        }
        if self.queue.remove(&turn_id) {
            self.end_waiting(&turn_id, turns::CANCELLED, "cancelled", None).await;
            return Ok(Cancelled { requests: Vec::new() });
        }
        let (name, session) = (turn_id.clone(), self.row.no);
        let found = self.store.read(move |db| turn_rows::find(db, &name)).await?;
        match found.filter(|row| row.session == session) {
            Some(row) => Err(ApiError::new(ErrorCode::TurnFinished, "The turn has ended")
                .with("turn_id", turn_id)
                .with("state", row.state)),
            None => Err(turns::not_found(&turn_id)),
        }
    }

    /// Cancels the turn that runs, if one does. The first reason stands. Requests that were answered as cancelled.
    pub(super) async fn cancel_running(
        &mut self,
        reason: &'static str,
        grace: Duration,
        force: bool,
    ) -> Vec<String> {
        let Some(running) = &mut self.running else { return Vec::new() };
        let turn_id = running.row.turn_id.clone();
        let sent = running.request.is_some();
        running.cancelled.get_or_insert(reason);
        if sent && let (Some(process), Some(native)) = (&self.process, &self.row.native_session_id) {
            // Closed: its end is heard.
            let _ = process.peer.notify("session/cancel", &json!({"sessionId": native}));
        }
        let requests = self.cancel_requests().await;
        if sent {
            self.after(grace, move |actor| Box::pin(actor.cancel_harder(turn_id, force)));
        }
        requests
    }

    async fn cancel_harder(&mut self, turn_id: String, force: bool) {
        let open = |running: &&Running| running.row.turn_id == turn_id && !running.answered;
        let Some(running) = self.running.as_ref().filter(open) else {
            return;
        };
        if let (Some(process), Some(request)) = (&self.process, running.request) {
            let _ = process.peer.notify("$/cancel_request", &json!({"requestId": request}));
        }
        if force {
            self.after(LAST, move |actor| Box::pin(actor.kill(turn_id)));
        }
    }

    /// The agent has ignored everything.
    async fn kill(&mut self, turn_id: String) {
        let open = |running: &&mut Running| running.row.turn_id == turn_id && !running.answered;
        let Some(running) = self.running.as_mut().filter(open) else {
            return;
        };
        running.forced = true;
        if let Some(process) = self.process.clone() {
            // Its end is heard.
            tokio::spawn(async move { process.stop(Duration::ZERO, true).await });
        }
    }
}
