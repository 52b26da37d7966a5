//! One agent process as its callers see it.

use super::router::Router;
use super::{Handshake, Logs};
use crate::agents::acp::{Ended, Inbox, Peer};
use crate::process::{Engine, Job, Reason};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long everything may take to be gone after SIGKILL; the engine's own hunt is shorter.
const HUNT: Duration = Duration::from_secs(15);

/// How far a process is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Started; the handshake is under way.
    Starting,
    /// It serves.
    Ready,
    /// It is being stopped.
    Draining,
    /// It has ended.
    Dead,
}

/// How a stop went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// How the process ended.
    pub ended: Ended,
    /// Processes beneath it that had to be ended.
    pub killed_children: usize,
    /// The sessions that it served.
    pub session_ids: Vec<String>,
}

/// An agent process.
pub struct AgentProcess {
    /// `prc_` and a ULID.
    pub id: String,
    /// Which agent it is.
    pub agent_id: String,
    /// The names of the credentials that it holds.
    pub credentials: Vec<String>,
    /// Processes that the same session had before.
    pub restarts: u32,
    /// The process itself.
    pub job: Arc<Job>,
    /// Its wire.
    pub peer: Arc<Peer>,
    /// What it printed.
    pub logs: Arc<Logs>,
    pub(super) engine: Arc<Engine>,
    pub(super) router: Arc<Router>,
    pub(super) handshake: OnceLock<Arc<Handshake>>,
    pub(super) phase: Mutex<Phase>,
    pub(super) stopped: AtomicBool,
    pub(super) swept: AtomicUsize,
    pub(super) ended: OnceLock<Ended>,
    /// Cancelled when nothing of it is left and everybody knows.
    pub(super) gone: CancellationToken,
}

impl AgentProcess {
    /// What the agent said of itself. Present for every process that [`super::Processes::start`] has returned.
    #[must_use]
    pub fn handshake(&self) -> Option<&Arc<Handshake>> {
        self.handshake.get()
    }

    /// How far it is.
    #[must_use]
    pub fn phase(&self) -> Phase {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether requests may be sent.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.phase() == Phase::Ready && !self.peer.is_closed()
    }

    /// A session listens from now on, under the agent's own name for it. Messages for that name that have come already
    /// are told first.
    pub fn attach(&self, native_session_id: &str, session_id: &str, inbox: Arc<dyn Inbox>) {
        self.router.attach(native_session_id, session_id, inbox);
    }

    /// The session listens no more.
    pub fn detach(&self, native_session_id: &str) {
        self.router.detach(native_session_id);
    }

    /// The sessions that listen, by our ids.
    #[must_use]
    pub fn session_ids(&self) -> Vec<String> {
        self.router.session_ids()
    }

    /// How it ended, once it has.
    #[must_use]
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.get()
    }

    /// Waits until nothing of it is left and its sessions have been told.
    pub async fn gone(&self) -> Ended {
        self.gone.cancelled().await;
        self.ended.get().cloned().unwrap_or_default()
    }

    /// Closes its input, waits for `grace`, then ends it and all beneath it: SIGTERM, two seconds, SIGKILL. With `force`
    /// SIGKILL comes first. Returns when nothing is left; may be called by many.
    pub async fn stop(&self, grace: Duration, force: bool) -> Stopped {
        let session_ids = self.session_ids();
        self.stopped.store(true, Ordering::Release);
        self.advance(Phase::Draining);
        if !force {
            let leave = async {
                if let Some(input) = &self.job.input {
                    input.close().await;
                }
                self.job.ended().await;
            };
            // Whoever ignores it is told more plainly.
            let _ = tokio::time::timeout(grace, leave).await;
        }
        let mut killed_children = 0;
        if self.job.exit().is_none() {
            let job = Arc::clone(&self.job);
            let beneath = tokio::task::spawn_blocking(move || {
                let beneath = job.family().into_iter().filter(|pid| *pid != job.pid).count();
                if force {
                    let _ = job.signal(9);
                }
                beneath
            });
            killed_children = beneath.await.unwrap_or_default();
            self.job.end(Reason::Delete);
        }
        // A process that the kernel holds cannot be waited for without end.
        let _ = tokio::time::timeout(HUNT, self.gone.cancelled()).await;
        killed_children += self.swept.load(Ordering::Acquire);
        Stopped { ended: self.ended.get().cloned().unwrap_or_default(), killed_children, session_ids }
    }

    /// Goes on in its life; never back.
    pub(super) fn advance(&self, to: Phase) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        if (*phase as u8) < (to as u8) {
            *phase = to;
        }
    }
}

impl std::fmt::Debug for AgentProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentProcess")
            .field("id", &self.id)
            .field("agent_id", &self.agent_id)
            .field("pid", &self.job.pid)
            .field("phase", &self.phase())
            .finish_non_exhaustive()
    }
}
