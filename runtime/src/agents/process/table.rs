//! All agent processes: how many there may be, how they start, and who is where.

use super::agent::{AgentProcess, Phase};
use super::carry::{self, Record};
use super::router::Router;
use super::{Handshake, Logs, Recipe, StartError, StartFor, Stopped};
use crate::agents::acp::{Peer, RpcError};
use crate::agents::credentials::Masks;
use crate::agents::ids;
use crate::process::{Engine, Full, Job, Kind, Launch, Owner, Reason, Screen, SpawnError, Stdin, masking};
use serde::Serialize;
use std::collections::HashMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio_util::sync::CancellationToken;

/// Agent processes that may run at once.
pub const MAX_PROCESSES: usize = 16;

/// Ended processes that are still listed, and logs that are kept of processes that no session claims.
const REMEMBERED: (usize, usize) = (50, 400);

/// How long a process that no session needs any more has to leave by itself.
const GRACE: Duration = Duration::from_secs(5);

/// All agent processes of a server.
#[derive(Debug)]
pub struct Processes {
    engine: Arc<Engine>,
    masks: Arc<Masks>,
    folder: PathBuf,
    table: Mutex<Table>,
    /// Held while a process is started that many sessions are to share.
    sharing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Table {
    /// Oldest first; ended ones for a while.
    all: Vec<Entry>,
    starting: usize,
    starts: HashMap<String, u32>,
}

#[derive(Debug)]
struct Entry {
    process: Arc<AgentProcess>,
    /// What it was started from, for those who could share it.
    recipe: Recipe,
}

/// A process as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    process_id: String,
    agent_id: String,
    pid: i32,
    state: Phase,
    started_at: f64,
    last_frame_at: f64,
    rss_bytes: u64,
    children: usize,
    session_ids: Vec<String>,
    restarts: u32,
    in_flight: usize,
}

/// Ends a process whose start was given up half-way.
struct Unfinished(Option<Arc<Job>>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(job) = &self.0 {
            job.end(Reason::Disconnect);
        }
    }
}

/// A place among the processes that may run.
struct Slot<'a>(&'a Processes);

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.table().starting -= 1;
    }
}

impl Processes {
    /// A table that is empty. `folder` is where logs go, in a folder that must be there when the first process starts.
    #[must_use]
    pub fn new(engine: Arc<Engine>, folder: PathBuf, masks: Arc<Masks>) -> Self {
        Self { engine, masks, folder, table: Mutex::default(), sharing: tokio::sync::Mutex::default() }
    }

    /// Where logs are; see [`Logs::read`].
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts an agent and shakes hands with it, or gives one that runs already where it may be shared.
    ///
    /// # Errors
    /// See [`StartError`]. Nothing is left running then. Dropping the future ends what has been started.
    pub async fn start(&self, recipe: &Recipe, what: StartFor) -> Result<Arc<AgentProcess>, StartError> {
        if !recipe.share_process || what.session_id.is_none() {
            return self.start_own(recipe, what).await;
        }
        let _one_by_one = self.sharing.lock().await;
        let running = self
            .table()
            .all
            .iter()
            .find(|e| e.recipe == *recipe && e.process.is_ready())
            .map(|e| Arc::clone(&e.process));
        match running {
            Some(process) => {
                // What the policy says of another session's start holds for this one too.
                what.judge.program(&self.engine, &recipe.command, &what.place)?;
                what.judge.environment(&self.engine, recipe, &what.place)?;
                Ok(process)
            }
            None => self.start_own(recipe, what).await,
        }
    }

    async fn start_own(&self, recipe: &Recipe, what: StartFor) -> Result<Arc<AgentProcess>, StartError> {
        let begun = Instant::now();
        let slot = self.take_slot()?;
        let patience = what.patience;
        let process = self.spawn(recipe, what)?;
        drop(slot);
        let mut unfinished = Unfinished(Some(Arc::clone(&process.job)));
        let answer = process.peer.request("initialize", &Handshake::offer(recipe), patience).await;
        let checked = match answer {
            Ok(result) => match Handshake::check(&result) {
                Ok(()) => Ok(result),
                Err(why) => Err(Failed::Protocol(why, None)),
            },
            Err(RpcError::Fault(fault)) => Err(Failed::Protocol(
                format!("the agent refused the handshake: {}", fault.message),
                Some(Box::new(fault)),
            )),
            Err(RpcError::Timeout) => Err(Failed::Timeout),
            Err(RpcError::Closed | RpcError::TooLarge) => Err(Failed::Ended),
        };
        match checked {
            Ok(result) => {
                let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
                let _ =
                    process.handshake.set(Arc::new(Handshake { at: seconds(SystemTime::now()), ms, result }));
                process.advance(Phase::Ready);
                unfinished.0 = None;
                Ok(process)
            }
            Err(failed) => {
                let stopped = process.stop(Duration::ZERO, true).await;
                let stderr_tail = process.logs.stderr_tail();
                Err(match failed {
                    Failed::Ended => StartError::Ended { ended: stopped.ended, stderr_tail },
                    Failed::Timeout => StartError::Timeout { stderr_tail },
                    Failed::Protocol(why, fault) => StartError::Protocol { why, fault, stderr_tail },
                })
            }
        }
    }

    fn spawn(&self, recipe: &Recipe, what: StartFor) -> Result<Arc<AgentProcess>, StartError> {
        let program = what.judge.program(&self.engine, &recipe.command, &what.place)?;
        let environment = what.judge.environment(&self.engine, recipe, &what.place)?;
        recipe.secrets.values().for_each(|secret| self.masks.add(secret));
        let id = ids::new(ids::PROCESS);
        self.make_folder().map_err(StartError::Log)?;
        let logs = Logs::begin(&self.folder, &id, Arc::clone(&self.masks)).map_err(StartError::Log)?;
        let (logs, words) = (Arc::new(logs), recipe.words());
        let started = self.engine.spawn(Launch {
            program,
            title: masking::display(&words),
            arguments: words,
            environment,
            directory: what.place.handle,
            input: Stdin::Open,
            screen: Screen::Pipes,
            keep: carry::KEEP,
            full: Full::Pause,
            lifetime: None,
            kind: Kind::Call,
            owner: Owner::from("agents"),
        });
        let job = started.map_err(|error| {
            Logs::delete(&self.folder, &id);
            match error {
                SpawnError::NotExecutable(name) => StartError::NotInstalled(name),
                error => StartError::Spawn(error),
            }
        })?;
        let router = Arc::new(Router::default());
        let record = Arc::new(Record { logs: Arc::clone(&logs), trace: AtomicBool::new(what.trace) });
        let (peer, outbox) = Peer::open(Arc::clone(&router) as _, record);
        let mut table = self.table();
        let process = Arc::new(AgentProcess {
            id,
            agent_id: recipe.agent_id.clone(),
            credentials: recipe.credentials.clone(),
            restarts: table.count_start(what.session_id),
            job,
            peer,
            logs,
            engine: Arc::clone(&self.engine),
            router,
            handshake: OnceLock::new(),
            phase: Mutex::new(Phase::Starting),
            stopped: AtomicBool::new(false),
            swept: AtomicUsize::new(0),
            ended: OnceLock::new(),
            gone: CancellationToken::new(),
        });
        table.all.push(Entry { process: Arc::clone(&process), recipe: recipe.clone() });
        table.forget_old();
        drop(table);
        tokio::spawn(carry::write(Arc::clone(&process.job), outbox));
        tokio::spawn(carry::read(Arc::clone(&process)));
        Ok(process)
    }

    /// The process of this id, running or ended not long ago.
    #[must_use]
    pub fn get(&self, process_id: &str) -> Option<Arc<AgentProcess>> {
        self.table().all.iter().find(|e| e.process.id == process_id).map(|e| Arc::clone(&e.process))
    }

    /// The process that serves a session, and the agent's own name for it.
    #[must_use]
    pub fn of_session(&self, session_id: &str) -> Option<(Arc<AgentProcess>, String)> {
        let living = self.living();
        living.into_iter().filter(|process| process.is_ready()).find_map(|process| {
            let native = process.router.native(session_id)?;
            Some((process, native))
        })
    }

    /// Those that have not ended.
    #[must_use]
    pub fn living(&self) -> Vec<Arc<AgentProcess>> {
        let table = self.table();
        let living = table.all.iter().filter(|e| e.process.phase() != Phase::Dead);
        living.map(|e| Arc::clone(&e.process)).collect()
    }

    /// All, oldest first, as lists show them. Reads the process table: call it off the async threads.
    #[must_use]
    pub fn list(&self, agent_id: Option<&str>) -> Vec<Shown> {
        let all: Vec<Arc<AgentProcess>> = self.table().all.iter().map(|e| Arc::clone(&e.process)).collect();
        let wanted = all.iter().filter(|process| agent_id.is_none_or(|id| process.agent_id == id));
        wanted.map(|process| show(process)).collect()
    }

    /// A session is done with a process: it listens no more, and a process that serves no other is stopped.
    pub async fn release(&self, process: &AgentProcess, native_session_id: &str) -> Option<Stopped> {
        process.detach(native_session_id);
        if process.session_ids().is_empty() { Some(process.stop(GRACE, false).await) } else { None }
    }

    /// Forgets a process that has ended, and its log. For sessions that are deleted.
    pub fn forget(&self, process_id: &str) {
        let mut table = self.table();
        table.all.retain(|e| e.process.id != process_id || e.process.phase() != Phase::Dead);
        if !table.all.iter().any(|e| e.process.id == process_id) {
            Logs::delete(&self.folder, process_id);
        }
    }

    fn take_slot(&self) -> Result<Slot<'_>, StartError> {
        let mut table = self.table();
        let running = table.all.iter().filter(|e| e.process.phase() != Phase::Dead).count();
        if running + table.starting >= MAX_PROCESSES {
            return Err(StartError::TooMany { limit: MAX_PROCESSES });
        }
        table.starting += 1;
        Ok(Slot(self))
    }

    /// Makes the folder of the logs, and room in it.
    fn make_folder(&self) -> std::io::Result<()> {
        // Its parent is made, and closed to others, by the store; without it there is no place for logs.
        match DirBuilder::new().mode(0o700).create(&self.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let mut logs: Vec<(SystemTime, PathBuf)> = std::fs::read_dir(&self.folder)?
            .filter_map(|entry| {
                let entry = entry.ok()?;
                Some((entry.metadata().ok()?.modified().ok()?, entry.path()))
            })
            .collect();
        if logs.len() > REMEMBERED.1 {
            logs.sort_unstable();
            for (_, path) in logs.iter().take(logs.len() - REMEMBERED.1) {
                // Somebody else may have deleted it.
                let _ = std::fs::remove_file(path);
            }
        }
        Ok(())
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a handshake failed.
enum Failed {
    Ended,
    Timeout,
    Protocol(String, Option<Box<crate::agents::acp::RpcFault>>),
}

impl Table {
    /// How many processes the session had before this one.
    fn count_start(&mut self, session_id: Option<String>) -> u32 {
        let Some(session_id) = session_id else { return 0 };
        let starts = self.starts.entry(session_id).or_default();
        *starts += 1;
        *starts - 1
    }

    fn forget_old(&mut self) {
        let dead = self.all.iter().filter(|e| e.process.phase() == Phase::Dead).count();
        let mut excess = dead.saturating_sub(REMEMBERED.0);
        self.all.retain(|e| {
            let forgotten = excess > 0 && e.process.phase() == Phase::Dead;
            excess -= usize::from(forgotten);
            !forgotten
        });
    }
}

fn show(process: &AgentProcess) -> Shown {
    let dead = process.phase() == Phase::Dead;
    let family = if dead { Vec::new() } else { process.job.family() };
    let now = SystemTime::now();
    Shown {
        process_id: process.id.clone(),
        agent_id: process.agent_id.clone(),
        pid: process.job.pid,
        state: process.phase(),
        started_at: seconds(process.job.started_at),
        last_frame_at: seconds(now.checked_sub(process.peer.silent_for()).unwrap_or(now)),
        rss_bytes: family.iter().map(|pid| resident(*pid)).sum(),
        children: family.iter().filter(|pid| **pid != process.job.pid).count(),
        session_ids: process.session_ids(),
        restarts: process.restarts,
        in_flight: process.peer.in_flight(),
    }
}

/// Bytes of memory that a process holds; none for one that has just gone.
fn resident(pid: i32) -> u64 {
    let pages = procfs::process::Process::new(pid).and_then(|process| process.statm());
    pages.map_or(0, |pages| pages.resident * procfs::page_size())
}

/// Seconds since 1970.
fn seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
