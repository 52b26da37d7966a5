//! The engine: every process of the server, who it belongs to, how many there may be, and how they all end.

mod orphans;
mod slots;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::{Notify, SetOnce, watch};

use super::ending;
use super::environment::Environment;
use super::exit::Reason;
use super::forward::Forward;
use super::job::{Job, Kind, Owner, State};
use super::launch::{Launch, Screen, SpawnError};
use super::programs::Programs;
use super::pump;
use super::ring::Log;
use super::spawn::{self, Common};
use super::sys::Identity;
use super::tree::Tags;

pub use orphans::Orphan;
pub use slots::MAX_TERMINALS;

/// Background processes that may run at once.
pub const MAX_PROCESSES: usize = 100;

/// How long a background process is remembered after its end, and how many at most.
const REMEMBERED: (Duration, usize) = (Duration::from_secs(600), 200);

/// How long all that runs may take to end at shutdown: SIGTERM, two seconds, SIGKILL, and what the kernel needs.
const SHUTDOWN: Duration = Duration::from_secs(4);

/// What a server tells its engine at start.
#[derive(Debug)]
pub struct Setup {
    /// Where bare names are looked up.
    pub programs: Programs,
    /// What children get to see.
    pub environment: Environment,
    /// Whom children run as, if not the server's own user.
    pub identity: Option<Identity>,
    /// Background processes that may run at once.
    pub max_processes: usize,
    /// Where the output of background processes goes beside their logs.
    pub forward: Option<Arc<Forward>>,
}

/// The one engine under everything that starts a process.
#[derive(Debug)]
pub struct Engine {
    /// Where bare names are looked up.
    pub programs: Programs,
    /// What children get to see.
    pub environment: Environment,
    /// Commands that their callers can come back to.
    pub resumable: Arc<super::resumable::Resumable>,
    common: Common,
    forward: Option<Arc<Forward>>,
    tags: Tags,
    max_processes: usize,
    stopping: AtomicBool,
    table: Mutex<Table>,
    /// Held while a child is started (shared) and while a child nobody knows is waited for (alone).
    pub(super) births: RwLock<()>,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    /// By tag: everything that runs, and background processes for a while after.
    jobs: BTreeMap<u64, Arc<Job>>,
    /// Tags of background processes by pid. A newer process takes the place of an ended one.
    by_pid: HashMap<i32, u64>,
    /// Calls that have ended, as long as something of them may live on.
    remains: HashMap<u64, orphans::Remains>,
    /// What is being started and bounded.
    starting: slots::Starting,
}

impl Engine {
    /// An engine that runs nothing yet.
    ///
    /// # Errors
    /// `/dev/null` cannot be opened.
    pub fn new(setup: Setup) -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            programs: setup.programs,
            environment: setup.environment,
            resumable: Arc::default(),
            common: Common::new(setup.identity)?,
            forward: setup.forward,
            tags: Tags::new(),
            max_processes: setup.max_processes,
            stopping: AtomicBool::new(false),
            table: Mutex::default(),
            births: RwLock::new(()),
        }))
    }

    /// Whom children run as, where that is not the server's own user: what they are to write must belong to them.
    #[must_use]
    pub fn child(&self) -> Option<Identity> {
        self.common.identity
    }

    /// Whether `asked`, a name or a number as `--child-user` takes it, is whom children run as.
    #[must_use]
    pub fn runs_as(&self, asked: &str) -> bool {
        let (uid, gid) = match self.common.identity {
            Some(Identity { uid, gid }) => (uid, gid),
            None => (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw()),
        };
        let says_group = asked.contains(':');
        super::User::find(asked)
            .is_ok_and(|user| user.identity.uid == uid && (!says_group || user.identity.gid == gid))
    }

    /// Starts a process. Must be called within a tokio runtime; blocks until the program has been executed, which
    /// takes well under a millisecond.
    ///
    /// # Errors
    /// See [`SpawnError`]. Nothing is left behind then, and no slot is used.
    pub fn spawn(self: &Arc<Self>, launch: Launch) -> Result<Arc<Job>, SpawnError> {
        self.start(launch, None)
    }

    /// The same for a process that is driven through `handles`, its descriptors from 3 on, and is nothing without who
    /// drives it: the kernel kills it when the calling thread ends, even where it is stopped. So it is to be called on a
    /// worker of the runtime, which lasts as long as the server. Never on a terminal.
    ///
    /// # Errors
    /// See [`SpawnError`].
    pub fn spawn_driven(
        self: &Arc<Self>,
        launch: Launch,
        handles: &[OwnedFd],
    ) -> Result<Arc<Job>, SpawnError> {
        self.start(launch, Some(handles))
    }

    fn start(
        self: &Arc<Self>,
        mut launch: Launch,
        driven: Option<&[OwnedFd]>,
    ) -> Result<Arc<Job>, SpawnError> {
        if self.stopping.load(Ordering::Acquire) {
            return Err(SpawnError::Stopping);
        }
        let tag = self.tags.next();
        let (job, running) = {
            let _birth = self.births.read().unwrap_or_else(PoisonError::into_inner);
            let slot = self.take_slot(&launch)?;
            let mut running = spawn::spawn(&mut launch, driven, &self.common, tag)?;
            let job = Arc::new(Job {
                pid: running.pid,
                title: launch.title,
                owner: launch.owner,
                kind: launch.kind,
                started_at: SystemTime::now(),
                started: Instant::now(),
                input: running.input.take(),
                terminal: launch.screen != Screen::Pipes,
                tag,
                descent: self.tags.of(tag, Some(running.pid)),
                log: Mutex::new(Log::new(launch.keep, launch.full)),
                state: Mutex::new(State { leader: Some(Arc::clone(&running.pidfd)), ..State::default() }),
                changed: watch::Sender::new(0),
                over: SetOnce::new(),
                room: Notify::new(),
                stop: Notify::new(),
            });
            let mut table = self.table();
            table.insert(&job);
            slot.filled(&mut table);
            drop(table);
            (job, running)
        };
        let deadline = launch.lifetime.and_then(|life| tokio::time::Instant::now().checked_add(life));
        let (engine, pumped) = (Arc::clone(self), Arc::clone(&job));
        tokio::spawn(async move {
            let forward = engine.forward.as_ref().filter(|_| pumped.kind == Kind::Managed);
            let over = || engine.ended(&pumped);
            pump::run(Arc::clone(&pumped), running.watch, running.outputs, deadline, forward, over).await;
        });
        Ok(job)
    }

    /// The background process of that pid, if `visible` says that the caller may know of its owner's.
    #[must_use]
    pub fn managed(&self, pid: i32, visible: impl Fn(&Owner) -> bool) -> Option<Arc<Job>> {
        let table = self.table();
        let job = table.by_pid.get(&pid).and_then(|tag| table.jobs.get(tag))?;
        visible(&job.owner).then(|| Arc::clone(job))
    }

    /// Background processes, oldest first, ended ones for ten minutes.
    #[must_use]
    pub fn list(&self, visible: impl Fn(&Owner) -> bool) -> Vec<Arc<Job>> {
        let mut table = self.table();
        table.forget_old();
        // Tags are given out downwards.
        table
            .jobs
            .values()
            .rev()
            .filter(|job| job.kind == Kind::Managed && visible(&job.owner))
            .cloned()
            .collect()
    }

    /// Waits until forwarded output is written; gives up after `patience`.
    pub fn flush_forwarded(&self, patience: Duration) {
        if let Some(forward) = &self.forward {
            forward.flush(patience);
        }
    }

    /// Ends everything: no process of this server is left when it returns, unless the kernel itself holds one.
    pub async fn shutdown(&self) {
        self.stopping.store(true, Ordering::Release);
        let jobs: Vec<Arc<Job>> = self.table().jobs.values().cloned().collect();
        for job in &jobs {
            job.end(Reason::Shutdown);
        }
        let all = async {
            for job in &jobs {
                job.ended().await;
            }
            ending::end_orphans(self.tags.all()).await;
        };
        let _ = tokio::time::timeout(SHUTDOWN, all).await;
    }

    /// Takes note of an end, and tells those who wait for it.
    fn ended(&self, job: &Arc<Job>) {
        let mut table = self.table();
        // Told under the lock: whoever has seen the end finds the slot free and what was left behind in the lists.
        job.complete();
        if job.kind != Kind::Managed {
            table.jobs.remove(&job.tag);
        }
        // What the server ended itself has left nothing.
        if job.exit().is_some_and(|exit| exit.reason.is_none()) {
            table.remains.insert(job.tag, orphans::Remains::of(job));
        }
        table.forget_old();
        let crowded = table.remains.len() > orphans::CROWDED;
        drop(table);
        if crowded {
            self.sweep();
        }
    }

    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the pid is that of a leader that its pump will wait for.
    pub(super) fn leads(&self, pid: i32) -> Option<Arc<Job>> {
        self.table().jobs.values().find(|job| job.pid == pid && job.state().exit.is_none()).cloned()
    }
}

impl Table {
    fn insert(&mut self, job: &Arc<Job>) {
        self.jobs.insert(job.tag, Arc::clone(job));
        if job.kind == Kind::Managed
            && let Some(older) = self.by_pid.insert(job.pid, job.tag)
        {
            // The system has given the number to another, so the ended process can no longer be meant by it.
            self.jobs.remove(&older);
        }
    }

    /// Forgets background processes that ended long ago, and the oldest where there are too many.
    fn forget_old(&mut self) {
        let mut ended: Vec<(Instant, u64)> = self
            .jobs
            .values()
            .filter(|job| job.kind == Kind::Managed)
            .filter_map(|job| Some((job.ended_at()?, job.tag)))
            .collect();
        if ended.is_empty() {
            return;
        }
        ended.sort_unstable();
        let excess = ended.len().saturating_sub(REMEMBERED.1);
        for (number, (at, tag)) in ended.into_iter().enumerate() {
            if (number < excess || at.elapsed() > REMEMBERED.0)
                && let Some(job) = self.jobs.remove(&tag)
                && self.by_pid.get(&job.pid) == Some(&tag)
            {
                self.by_pid.remove(&job.pid);
            }
        }
    }
}
