//! The end of a turn: what is written of it, what it has cost, and what it leaves on disk.

use super::{Actor, Kind};
use crate::agents::artifacts;
use crate::agents::log::NewEvent;
use crate::agents::sessions::state::State;
use crate::agents::store::{now, sessions};
use crate::agents::turns::{self, attach, rows};
use crate::agents::workspace::points;
use serde_json::{Value, json};

impl Actor {
    /// The turn that runs is over.
    pub(super) async fn end_turn(
        &mut self,
        state: &'static str,
        reason: Option<&str>,
        error: Option<Value>,
        usage: Option<Value>,
    ) {
        self.cancel_requests().await;
        self.speak_out().await;
        self.speech.forget();
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
        let ending = rows::Ending {
            state,
            reason: reason.map(str::to_owned),
            error,
            at: now(),
            forced: running.forced,
        };
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
        let reason = Some(reason.to_owned());
        let ending = rows::Ending { state, reason, error, at: now(), forced: false };
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
