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
//! | `branch` | a branch that its agent does not know yet |
//! | `intake` | how a turn gets into the queue |
//! | `prompt` | the next turn; `ending` its end |
//! | `cancel` | cancelling, in steps |
//! | `ask` | requests of the agent; `resolve` their answers |
//! | `change` | options, policy, title, the order of the queue |
//! | `steer` | a word to the turn that runs |
//! | `close` | the end |
//! | `mailbox` | the way here for what was spawned |
//! | `write` | the session's row and its events, on disk |

mod ask;
mod begin;
mod branch;
mod cancel;
mod change;
mod close;
mod ending;
mod hear;
mod intake;
mod ladder;
mod mailbox;
mod prompt;
mod resolve;
mod steer;
mod write;

pub use begin::{Began, How, Launch};
pub use cancel::Cancelled;
pub(crate) use cancel::{GRACE, LAST};
pub use change::{Changes, Order};
pub use intake::{OnBusy, Queued, TurnAsked};
pub(crate) use mailbox::Mailbox;
pub use mailbox::Work;
pub use resolve::{Decided, Outcome, PermissionAnswer};
pub use steer::{Fallback, Steered};

use super::client::{Switches, Terminals};
use super::details::Details;
use super::ear::Frame;
use super::live::Live;
use super::speech::Speech;
use super::state::{Link, State};
use crate::agents::log::{Kind, Log};
use crate::agents::options::Options;
use crate::agents::process::AgentProcess;
use crate::agents::store::Store;
use crate::agents::store::sessions::SessionRow;
use crate::agents::turns::queue::Queue;
use crate::app::App;
use ask::Open;
use begin::Replay;
use futures_util::future::BoxFuture;
use prompt::Running;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// Frames that are heard at once.
const BATCH: usize = 512;

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
    /// Pages that a person has agreed to open, newest first: the agent's name of each, and the request.
    pages: VecDeque<(String, String)>,
    replay: Replay,
    unproven: Option<branch::Unproven>,
    speech: Speech,
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
            pages: VecDeque::new(),
            replay: Replay::default(),
            unproven: None,
            speech: Speech::default(),
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
                () = stopping.cancelled() => return self.speak_out().await,
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
