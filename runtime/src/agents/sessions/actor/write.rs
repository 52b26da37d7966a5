//! What a session's task writes: the row of the session, and events, together where they say the same.

use super::Actor;
use crate::agents::log::{Kind, NewEvent};
use crate::agents::store::sessions::{self, SessionRow};
use crate::agents::store::{StoreError, now};
use rusqlite::Connection;
use serde_json::json;

impl Actor {
    /// Writes down what has changed, and lets the next turn begin.
    pub(super) async fn settle(&mut self) {
        if self.row.state == "deleted" {
            return;
        }
        self.next_turn();
        let events: Vec<NewEvent> = self.state_changed().into_iter().collect();
        if events.is_empty() && !self.dirty {
            return;
        }
        self.turn_waits().await;
        if let Err(error) = self.save(events).await {
            crate::log::say(format_args!("the state of `{}` was not stored: {error}", self.row.session_id));
        }
    }

    /// Takes the state that follows from everything else into the row; the event that says so, where it is another.
    pub(super) fn state_changed(&mut self) -> Option<NewEvent> {
        let state = self.state().as_str();
        if self.row.state == state {
            return None;
        }
        let before = std::mem::replace(&mut self.row.state, state.to_owned());
        Some(self.event(Kind::SessionState, json!({"state": state, "previous": before})))
    }

    /// Writes the session, with events that belong to it.
    pub(crate) async fn save(&mut self, events: Vec<NewEvent>) -> Result<(), StoreError> {
        let row = self.snapshot();
        self.commit(events, move |db| sessions::update(db, &row).map(|_| ())).await?;
        self.dirty = false;
        self.live.tell();
        Ok(())
    }

    /// Writes events and a change of the store, both or neither.
    pub(crate) async fn commit<T: Send + 'static>(
        &self,
        events: Vec<NewEvent>,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        if events.is_empty() {
            return self.store.write(change).await;
        }
        self.log.append_with(&self.row.session_id, events, change).await.map(|(done, _)| done)
    }

    /// Writes events. A failure is logged: whoever follows sees a gap in what is told, never in the numbers.
    pub(crate) async fn say(&self, events: Vec<NewEvent>) {
        if !events.is_empty()
            && let Err(error) = self.log.append(&self.row.session_id, events).await
        {
            crate::log::say(format_args!("events of `{}` were not stored: {error}", self.row.session_id));
        }
    }

    /// An event of the turn that runs, if one does.
    pub(crate) fn event(&self, kind: Kind, data: serde_json::Value) -> NewEvent {
        let event = NewEvent::new(kind, data);
        match &self.running {
            Some(running) => event.turn(running.row.turn_id.clone()),
            None => event,
        }
    }

    /// The row as it is now.
    pub(crate) fn snapshot(&mut self) -> SessionRow {
        self.details.options = self.options.to_value();
        self.row.details = self.details.to_map();
        self.row.updated_at = now();
        self.row.clone()
    }
}
