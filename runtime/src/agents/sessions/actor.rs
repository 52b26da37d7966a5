//! The task that serves one session while there is anything live about it: the only writer of the session's state.
//!
//! Two things come to it: what its agent says, in order, and work, a function to be run on it. Calls of clients, answers
//! of the agent and timers are all work. Nothing that takes longer than a write to the store is waited for here: it is
//! spawned, and comes back as further work. An answer of the agent therefore never overtakes what was said before it,
//! for all that has been said when work begins is heard first.
//!
//! | module | |
//! |---|---|
//! | `hear` | what the agent says |
//! | `begin` | an agent comes up, and how a conversation is carried on; `ladder` its rungs |
//! | `intake` | how a turn gets into the queue |
//! | `prompt` | the next turn; `ending` its end |
//! | `cancel` | cancelling, in steps |
//! | `ask` | requests of the agent; `resolve` their answers |
//! | `change` | options, policy, title, the order of the queue |
//! | `steer` | a word to the turn that runs |
//! | `close` | the end |

mod ask;
mod begin;
mod cancel;
mod change;
mod close;
mod ending;
mod hear;
mod intake;
mod ladder;
mod prompt;
mod resolve;
mod steer;

pub use begin::{Began, How, Launch};
pub use cancel::Cancelled;
pub(crate) use cancel::{GRACE, LAST};
pub use change::{Changes, Order};
pub use intake::{OnBusy, Queued, TurnAsked};
pub use resolve::{Decided, Outcome, PermissionAnswer};
pub use steer::{Fallback, Steered};

use super::client::{Switches, Terminals};
use super::details::Details;
use super::ear::Frame;
use super::live::Live;
use super::state::{Link, State};
use crate::agents::log::{Kind, Log, NewEvent};
use crate::agents::options::Options;
use crate::agents::process::AgentProcess;
use crate::agents::store::sessions::{self, SessionRow};
use crate::agents::store::{Store, StoreError, now};
use crate::agents::turns::queue::Queue;
use crate::app::App;
use ask::Open;
use begin::Replay;
use futures_util::future::BoxFuture;
use prompt::Running;
use rusqlite::Connection;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// Something to be done by a session's task.
pub type Work = Box<dyn for<'a> FnOnce(&'a mut Actor) -> BoxFuture<'a, ()> + Send>;

/// Frames that are heard at once.
const BATCH: usize = 512;

/// The way to a session's task for what it has spawned itself; keeps nothing alive.
#[derive(Debug, Clone)]
pub(crate) struct Mailbox(mpsc::WeakUnboundedSender<Work>);

impl Mailbox {
    /// Has work done; forgotten where the task has ended.
    pub(crate) fn send(
        &self,
        work: impl for<'a> FnOnce(&'a mut Actor) -> BoxFuture<'a, ()> + Send + 'static,
    ) {
        if let Some(sender) = self.0.upgrade() {
            // Ended meanwhile.
            let _ = sender.send(Box::new(work));
        }
    }
}

/// A session that is served.
pub struct Actor {
    /// The server.
    pub(crate) app: Arc<App>,
    pub(crate) store: Store,
    pub(crate) log: Log,
    /// The session as it was last written, or is about to be.
    pub(crate) row: SessionRow,
    /// What it keeps about itself.
    pub(crate) details: Details,
    /// What its agent lets a caller choose.
    pub(crate) options: Options,
    /// Where its agent is.
    pub(crate) link: Link,
    /// Its turns.
    pub(crate) queue: Queue,
    /// Its agent.
    pub(crate) process: Option<Arc<AgentProcess>>,
    running: Option<Running>,
    open: BTreeMap<String, Open>,
    replay: Replay,
    generation: u64,
    seat: Option<OwnedSemaphorePermit>,
    asked_for_seat: bool,
    starting: Vec<begin::Waiter>,
    switches: Switches,
    terminals: Arc<Terminals>,
    closing: bool,
    dirty: bool,
    mailbox: Mailbox,
    frames: mpsc::UnboundedSender<Frame>,
    live: Arc<Live>,
}

/// What a session's task listens to.
pub(super) struct Ears {
    pub(super) work: mpsc::UnboundedReceiver<Work>,
    frames: mpsc::UnboundedReceiver<Frame>,
}

impl Actor {
    /// The task of a stored session, and the way to it. Turns that wait come with it.
    pub(super) fn new(
        app: Arc<App>,
        (store, log): (Store, Log),
        live: Arc<Live>,
        row: SessionRow,
        waiting: Vec<String>,
    ) -> (Self, Ears, mpsc::UnboundedSender<Work>) {
        let (sender, work) = mpsc::unbounded_channel();
        let (frames, heard) = mpsc::unbounded_channel();
        let details = Details::of(&row);
        let link = match State::from_name(&row.state) {
            Some(State::Closed) => Link::Closed,
            Some(State::Failed) => Link::Failed,
            Some(State::Starting) => Link::Starting,
            _ => Link::Gone,
        };
        let actor = Self {
            app,
            store,
            log,
            options: Options::from_value(&details.options),
            queue: Queue::of(waiting, details.queue_paused),
            row,
            details,
            link,
            process: None,
            running: None,
            open: BTreeMap::new(),
            replay: Replay::default(),
            generation: 0,
            seat: None,
            asked_for_seat: false,
            starting: Vec::new(),
            switches: Switches::default(),
            terminals: Arc::default(),
            closing: false,
            dirty: false,
            mailbox: Mailbox(sender.downgrade()),
            frames,
            live,
        };
        (actor, Ears { work, frames: heard }, sender)
    }

    /// Serves the session until nothing about it is live.
    pub(super) async fn run(mut self, mut ears: Ears) {
        let stopping = self.app.stopping.clone();
        loop {
            tokio::select! {
                Some(frame) = ears.frames.recv() => self.hear_all(frame, &mut ears, BATCH).await,
                work = ears.work.recv() => {
                    // What has been said by now comes before what follows from it.
                    let said = ears.frames.len();
                    if said > 0 && let Ok(frame) = ears.frames.try_recv() {
                        self.hear_all(frame, &mut ears, said).await;
                    }
                    match work {
                        Some(work) => work(&mut self).await,
                        None => return,
                    }
                }
                // What runs is found and marked at the next start.
                () = stopping.cancelled() => return,
            }
            self.settle().await;
            if self.is_done() && self.live.retire(&self.row.session_id, &ears) {
                return;
            }
        }
    }

    async fn hear_all(&mut self, first: Frame, ears: &mut Ears, most: usize) {
        let mut batch = vec![first];
        while batch.len() < most
            && let Ok(frame) = ears.frames.try_recv()
        {
            batch.push(frame);
        }
        self.hear(batch).await;
    }

    fn is_done(&self) -> bool {
        !matches!(self.link, Link::Starting | Link::Live)
            && self.running.is_none()
            && !self.closing
            && self.starting.is_empty()
    }

    /// The state that follows from everything else.
    #[must_use]
    pub(crate) fn state(&self) -> State {
        State::of(self.link, &self.queue, self.open.len())
    }

    /// Writes down what has changed, and lets the next turn begin.
    async fn settle(&mut self) {
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
    fn state_changed(&mut self) -> Option<NewEvent> {
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

    /// What its agent may ask of us.
    pub(crate) fn switches(&self) -> Switches {
        self.switches
    }

    /// The terminals of its agent.
    pub(crate) fn terminals(&self) -> Arc<Terminals> {
        Arc::clone(&self.terminals)
    }

    /// The turn that runs.
    pub(crate) fn turn_id(&self) -> Option<&str> {
        self.queue.in_flight()
    }

    /// Its agent, and the agent's name of the conversation, while it is there.
    #[must_use]
    pub fn agent(&self) -> Option<(Arc<AgentProcess>, String)> {
        Some((Arc::clone(self.process.as_ref()?), self.row.native_session_id.clone()?))
    }

    /// Something has changed that is written at the end of this piece of work.
    pub(crate) fn touch(&mut self) {
        self.dirty = true;
    }

    /// Has work done later.
    fn after(
        &self,
        time: Duration,
        work: impl for<'a> FnOnce(&'a mut Self) -> BoxFuture<'a, ()> + Send + 'static,
    ) {
        let mailbox = self.mailbox.clone();
        tokio::spawn(async move {
            tokio::time::sleep(time).await;
            mailbox.send(work);
        });
    }
}

impl std::fmt::Debug for Actor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Actor")
            .field("session_id", &self.row.session_id)
            .field("link", &self.link)
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}
