//! From a recipe to an agent that has shaken hands, within the number that may run.

use super::super::agent::{AgentProcess, Phase};
use super::super::carry::{self, Record};
use super::super::router::Router;
use super::super::{Handshake, Logs, Recipe, StartError, StartFor};
use super::shown::seconds;
use super::{Entry, MAX_PROCESSES, Processes, REMEMBERED, Table};
use crate::agents::acp::{Peer, RpcError};
use crate::agents::ids;
use crate::process::{Full, Job, Kind, Launch, Owner, Reason, Screen, SpawnError, Stdin, masking};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime};
use tokio_util::sync::CancellationToken;

/// Ends a process whose start was given up half-way.
struct Unfinished(Option<Arc<Job>>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(job) = &self.0 {
            job.end(Reason::Disconnect);
        }
    }
}

/// A place among the processes that may run, until one has taken it.
struct Slot<'a>(Option<&'a Processes>);

impl Slot<'_> {
    /// Under the lock by which its process comes into the table, so that it never counts twice.
    fn filled(mut self, table: &mut Table) {
        self.0 = None;
        table.starting -= 1;
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if let Some(processes) = self.0 {
            processes.table().starting -= 1;
        }
    }
}

impl Processes {
    pub(super) async fn start_own(
        &self,
        recipe: &Recipe,
        what: StartFor,
    ) -> Result<Arc<AgentProcess>, StartError> {
        let begun = Instant::now();
        let slot = self.take_slot()?;
        let patience = what.patience;
        let process = self.spawn(recipe, what, slot)?;
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

    fn spawn(
        &self,
        recipe: &Recipe,
        what: StartFor,
        slot: Slot<'_>,
    ) -> Result<Arc<AgentProcess>, StartError> {
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
        let router = Arc::new(Router::of(&id));
        let (told, trace) = (Arc::clone(&router), AtomicBool::new(what.trace));
        let record = Arc::new(Record { logs: Arc::clone(&logs), router: told, trace });
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
        slot.filled(&mut table);
        table.forget_old();
        drop(table);
        tokio::spawn(carry::write(Arc::clone(&process.job), outbox));
        tokio::spawn(carry::read(Arc::clone(&process)));
        Ok(process)
    }

    fn take_slot(&self) -> Result<Slot<'_>, StartError> {
        let mut table = self.table();
        let running = table.all.iter().filter(|e| e.process.phase() != Phase::Dead).count();
        if running + table.starting >= MAX_PROCESSES {
            return Err(StartError::TooMany { limit: MAX_PROCESSES });
        }
        table.starting += 1;
        Ok(Slot(Some(self)))
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
}

/// Why a handshake failed.
enum Failed {
    Ended,
    Timeout,
    Protocol(String, Option<Box<crate::agents::acp::RpcFault>>),
}
