//! Every session that is served by a task, the way to it, and how many may be live at once.

use super::actor::{Actor, Ears, Work};
use crate::agents::sessions::fault;
use crate::agents::store::sessions;
use crate::agents::turns::rows;
use crate::app::App;
use crate::error::{ApiError, ErrorCode};
use futures_util::future::BoxFuture;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

/// Sessions that may be open at once.
pub const MOST_OPEN: usize = 32;

/// Turns that may run at once; further ones wait in their queues.
pub const MOST_RUNNING: usize = 8;

/// Sessions with a task.
#[derive(Debug)]
pub struct Live {
    actors: Mutex<HashMap<String, mpsc::UnboundedSender<Work>>>,
    /// One session is loaded at a time, so that none gets two tasks.
    loading: tokio::sync::Mutex<()>,
    changed: watch::Sender<u64>,
    seats: Arc<Semaphore>,
    turns: Arc<Semaphore>,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            actors: Mutex::default(),
            loading: tokio::sync::Mutex::default(),
            changed: watch::Sender::new(0),
            seats: Arc::new(Semaphore::new(MOST_OPEN)),
            turns: Arc::new(Semaphore::new(MOST_RUNNING)),
        }
    }
}

impl Live {
    /// Has the task of a session do something, and waits for what comes of it. A session without a task gets one.
    ///
    /// # Errors
    /// 404 `session_not_found`, and failures of the store.
    pub async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        app: &Arc<App>,
        session_id: &str,
        work: impl for<'a> FnOnce(&'a mut Actor) -> BoxFuture<'a, T> + Send + 'static,
    ) -> Result<T, ApiError> {
        let (tell, told) = oneshot::channel();
        let work: Work = Box::new(move |actor| {
            Box::pin(async move {
                let done = work(actor).await;
                // Whoever asked may have left.
                let _ = tell.send(done);
            })
        });
        self.send(app, session_id, work).await?;
        told.await.map_err(|_| ApiError::new(ErrorCode::Draining, "The server is stopping"))
    }

    async fn send(self: &Arc<Self>, app: &Arc<App>, session_id: &str, work: Work) -> Result<(), ApiError> {
        let Err(work) = self.hand(session_id, work) else { return Ok(()) };
        let _one = self.loading.lock().await;
        let Err(work) = self.hand(session_id, work) else { return Ok(()) };
        let opened = app.agents.open().await?;
        let name = session_id.to_owned();
        let found = opened.store.read(move |db| {
            let Some(row) = sessions::find(db, &name)? else { return Ok(None) };
            let waiting = rows::waiting(db, row.no)?;
            Ok(Some((row, waiting)))
        });
        let Some((row, waiting)) = found.await? else {
            return Err(fault::no_session(session_id));
        };
        let parts = (opened.store.clone(), opened.log.clone());
        let (actor, ears, sender) = Actor::new(Arc::clone(app), parts, Arc::clone(self), row, waiting);
        // The receiver is in `ears`.
        let _ = sender.send(work);
        self.actors().insert(session_id.to_owned(), sender);
        tokio::spawn(actor.run(ears));
        Ok(())
    }

    /// Hands work to a task that is there; gives it back where none is.
    fn hand(&self, session_id: &str, work: Work) -> Result<(), Work> {
        let actors = self.actors();
        match actors.get(session_id) {
            Some(sender) => sender.send(work).map_err(|mpsc::error::SendError(work)| work),
            None => Err(work),
        }
    }

    /// A task that has nothing more to do leaves, unless work has come meanwhile.
    pub(super) fn retire(&self, session_id: &str, ears: &Ears) -> bool {
        let mut actors = self.actors();
        let idle = ears.work.is_empty();
        if idle {
            actors.remove(session_id);
        }
        idle
    }

    /// A place among the open sessions.
    ///
    /// # Errors
    /// 429 `session_limit`.
    pub fn seat(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        Arc::clone(&self.seats).try_acquire_owned().map_err(|_| {
            ApiError::new(ErrorCode::SessionLimit, "Too many open sessions")
                .with("limit", MOST_OPEN)
                .retry_after(5)
        })
    }

    /// The places of running turns.
    pub(super) fn turns(&self) -> Arc<Semaphore> {
        Arc::clone(&self.turns)
    }

    /// Something about some session has changed.
    pub(super) fn tell(&self) {
        self.changed.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Rings when anything about any session has changed.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn actors(&self) -> MutexGuard<'_, HashMap<String, mpsc::UnboundedSender<Work>>> {
        self.actors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
