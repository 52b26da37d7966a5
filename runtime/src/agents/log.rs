//! The log: everything that happened in a session, numbered without a gap, on disk before anybody sees it.
//!
//! - `kind`: every kind of event
//! - `event`: an event before and after it has a number
//! - `update`: what an agent reports, as events
//! - `append`: numbering, rows and items, in one transaction
//! - `appender`: many small appends as few large ones
//! - `tail`: the newest events in memory, and who waits for more
//! - `read`, `follow`: reading, once and for ever
//! - `veil`: events for who may not read files
//! - `merge`: pieces of one thing as one event
//! - `delete`: a session and all that is kept of it
//! - `trim`: keeping a session's log within bounds
//!
//! ```text
//! let log = app.agents.log().await?;
//! log.append(&session_id, vec![NewEvent::new(Kind::SessionState, json!({"state": "idle"}))]).await?;
//! // State and event in one transaction:
//! log.append_with(&session_id, events, move |db| turns::update(db, &turn)).await?;
//! // A flood of chunks: waits only where 8 MiB are not yet on disk.
//! let appender = log.appender(&session_id);
//! appender.push(event).await?;
//! appender.flush().await?;
//! ```

mod append;
mod appender;
mod delete;
mod event;
mod follow;
mod kind;
mod merge;
mod read;
mod tail;
mod trim;
mod update;
mod veil;

pub use appender::Appender;
pub use event::{Event, NewEvent};
pub use follow::{Follow, FollowError};
pub use kind::Kind;
pub use merge::join;
pub use read::{Asked, first_gseq, list};
pub use update::{of_update, tool_call};
pub use veil::veil;

use super::artifacts;
use super::store::{Store, StoreError};
use event::Prepared;
use rusqlite::Connection;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use tail::Tails;
use tokio::sync::watch;

/// The log of all sessions. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Log(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    tails: Arc<Tails>,
    /// Sessions whose log is being trimmed.
    trimming: Mutex<HashSet<i64>>,
    bounds: Bounds,
}

/// How much of a session's log is kept.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Most events.
    pub events: i64,
    /// Most bytes of their data.
    pub bytes: i64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { events: 200_000, bytes: 256 << 20 }
    }
}

impl Log {
    /// The log of a store.
    #[must_use]
    pub fn new(store: Store, bounds: Bounds) -> Self {
        Self(Arc::new(Inner { store, tails: Arc::default(), trimming: Mutex::default(), bounds }))
    }

    /// Appends events of one session, in this order, and answers when they are on disk: with them, and with those that
    /// followed from them (`message.completed`, `artifact.created`).
    ///
    /// # Errors
    /// [`StoreError::NoSession`], or what kept them from the disk; then none of them is there.
    pub async fn append(
        &self,
        session_id: &str,
        events: Vec<NewEvent>,
    ) -> Result<Vec<Arc<Event>>, StoreError> {
        self.append_with(session_id, events, |_| Ok(())).await.map(|((), events)| events)
    }

    /// The same, after `change`, in one transaction with it: state and event are both there, or neither is.
    ///
    /// # Errors
    /// As [`Self::append`], and what `change` failed with.
    pub async fn append_with<T: Send + 'static>(
        &self,
        session_id: &str,
        events: Vec<NewEvent>,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<(T, Vec<Arc<Event>>), StoreError> {
        let events = artifacts::extract(self.0.store.place(), session_id, events).await?;
        let session: Arc<str> = session_id.into();
        let prepared: Vec<Prepared> = events.into_iter().map(Prepared::new).collect();
        let work = move |db: &Connection| {
            let changed = change(db)?;
            match append::run(db, &session, prepared)? {
                Some(appended) => Ok(Ok((changed, appended))),
                // Undoes the change too.
                None => Err(append::no_session()),
            }
        };
        let tails = Arc::clone(&self.0.tails);
        let publish = move |done: &Result<(T, append::Appended), StoreError>| {
            if let Ok((_, appended)) = done {
                tails.publish(&appended.events);
            }
        };
        let (changed, appended) = self.0.store.write_then(work, publish).await.map_err(append::missing)??;
        if appended.log_events > self.0.bounds.events || appended.log_bytes > self.0.bounds.bytes {
            self.trim(appended.session);
        }
        Ok((changed, appended.events))
    }

    /// Gathers events of one session and appends many at once.
    #[must_use]
    pub fn appender(&self, session_id: &str) -> Appender {
        Appender::start(self.clone(), session_id)
    }

    /// Follows a session from behind `after` on: what is stored, then what comes.
    ///
    /// # Errors
    /// That there is no such session, or that what comes next has been trimmed.
    pub async fn follow(&self, session_id: &str, after: i64) -> Result<Follow, FollowError> {
        Follow::session(self.clone(), session_id, after).await
    }

    /// Follows all sessions from behind the global number `after` on; from now on where there is none.
    ///
    /// # Errors
    /// That what comes next has been trimmed.
    pub async fn follow_all(&self, after: Option<i64>) -> Result<Follow, FollowError> {
        Follow::all(self.clone(), after).await
    }

    /// Tells when a session has new events; the value is the newest number, or 0 before the first.
    #[must_use]
    pub fn changes(&self, session_id: &str) -> watch::Receiver<i64> {
        self.0.tails.session(session_id).changes()
    }

    /// Ends every follower of a session that has been deleted.
    pub fn forget(&self, session_id: &str) {
        self.0.tails.forget(session_id);
    }

    /// Whether nothing is being trimmed.
    #[cfg(test)]
    pub(super) fn is_still(&self) -> bool {
        self.0.trimming.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Trims in the background, once at a time for each session.
    fn trim(&self, session: i64) {
        if !self.0.trimming.lock().unwrap_or_else(PoisonError::into_inner).insert(session) {
            return;
        }
        let log = self.clone();
        tokio::spawn(async move {
            let bounds = log.0.bounds;
            // Each pass is short, so that appends come in between.
            while matches!(log.0.store.write(move |db| trim::pass(db, session, bounds)).await, Ok(true)) {}
            log.0.trimming.lock().unwrap_or_else(PoisonError::into_inner).remove(&session);
        });
    }
}

#[cfg(test)]
mod tests;
