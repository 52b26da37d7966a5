//! What a running server holds.
//!
//! Everything that depends on the policy is one [`PolicyState`], swapped as a whole when the policy is reloaded: a call
//! keeps the state that admitted it. Services that outlive a reload (processes, sessions) are fields of [`App`].

mod settings;
mod state;

pub use settings::Settings;
pub use state::{PolicyState, Unprepared, index};

use crate::agents::Agents;
use crate::audit::Audit;
use crate::auth::FailedLogins;
use crate::browser::Browsers;
use crate::commands::Commands;
use crate::endpoint::RequestId;
use crate::env::Env;
use crate::error::{ApiError, ErrorCode};
use crate::process;
use crate::pty;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;
use tokio::sync::{Notify, SetOnce, watch};
use tokio_util::sync::CancellationToken;

/// A running server.
#[derive(Debug)]
pub struct App {
    policy: RwLock<Arc<PolicyState>>,
    /// What was said at start, by flags and environment.
    pub settings: Settings,
    /// Where decisions are written.
    pub audit: Audit,
    /// What the environment said at start.
    pub env: Env,
    /// Every process that the server has started.
    pub processes: Arc<process::Engine>,
    /// What the template registers.
    pub commands: Commands,
    /// Every terminal session.
    pub terminals: Arc<pty::Sessions>,
    /// Coding agents and what is kept of them.
    pub agents: Arc<Agents>,
    /// The browser and who uses it.
    pub browsers: Browsers,
    /// Wrong tokens by peer.
    pub failed_logins: FailedLogins,
    /// Set when the first policy is prepared: its directories are held from then on.
    prepared: SetOnce<()>,
    /// Told when the first call comes that waits for that.
    wanted: Notify,
    /// Counts the policies that have been put in force.
    reloads: watch::Sender<u64>,
    /// Cancelled when the server stops: streams and sockets end then.
    pub stopping: CancellationToken,
    /// When the server started.
    pub started: Instant,
    boot: u64,
    requests: AtomicU64,
}

impl App {
    /// Puts a server together.
    #[must_use]
    pub fn new(
        policy: PolicyState,
        settings: Settings,
        audit: Audit,
        env: Env,
        processes: Arc<process::Engine>,
        commands: Commands,
    ) -> Self {
        let base_dir = policy.policy.base_dir().into();
        let (state_dir, withheld) = (settings.state_dir.clone(), Arc::clone(&env.withheld));
        let seals = Arc::clone(policy.guard.seals());
        let agents = Arc::new(Agents::new(state_dir, base_dir, Arc::clone(&processes), withheld, seals));
        let (boot, _) = uuid::Uuid::new_v4().as_u64_pair();
        Self {
            policy: RwLock::new(Arc::new(policy)),
            settings,
            audit,
            browsers: Browsers::new(env.browser.clone()),
            env,
            processes,
            commands,
            terminals: Arc::default(),
            agents,
            failed_logins: FailedLogins::default(),
            prepared: SetOnce::new(),
            wanted: Notify::new(),
            reloads: watch::Sender::new(0),
            stopping: CancellationToken::new(),
            started: Instant::now(),
            boot,
            requests: AtomicU64::new(0),
        }
    }

    /// The policy as it stands now.
    #[must_use]
    pub fn policy(&self) -> Arc<PolicyState> {
        Arc::clone(&self.policy.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets go who waits in [`Self::until_prepared`].
    pub(crate) fn set_prepared(&self) {
        // It is said once, by the start.
        let _ = self.prepared.set(());
    }

    /// Waits until the policy that the server started with is prepared: for a moment at its start, and later not at all.
    ///
    /// # Errors
    /// 503 `draining` where the server stops before.
    pub async fn until_prepared(&self) -> Result<(), ApiError> {
        if self.prepared.get().is_none() {
            self.wanted.notify_one();
        }
        tokio::select! {
            biased;
            _ = self.prepared.wait() => Ok(()),
            () = self.stopping.cancelled() => Err(ApiError::new(ErrorCode::Draining, "The server is stopping")),
        }
    }

    /// Waits until a call comes that waits for the policy to be prepared.
    pub(crate) async fn until_wanted(&self) {
        self.wanted.notified().await;
    }

    /// Puts another policy in force. Calls that are under way keep the one that admitted them.
    pub fn replace_policy(&self, next: PolicyState) {
        *self.policy.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
        self.reloads.send_modify(|count| *count += 1);
    }

    /// Tells of policies that are put in force from now on.
    #[must_use]
    pub fn reloads(&self) -> watch::Receiver<u64> {
        self.reloads.subscribe()
    }

    /// Whether the server itself listens on that port: nobody is let through to it.
    #[must_use]
    pub fn owns_port(&self, port: u16) -> bool {
        port == self.settings.http_port || port == self.settings.pty_port || self.browsers.owns_port(port)
    }

    /// A name for a new request.
    pub(crate) fn next_request_id(&self) -> RequestId {
        RequestId { boot: self.boot, number: self.requests.fetch_add(1, Ordering::Relaxed) }
    }
}
