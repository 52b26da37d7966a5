//! All agent processes: how many there may be, how they start, and who is where.
//!
//! - `start`: from a recipe to an agent that has shaken hands
//! - `shown`: a process as lists show it

mod shown;
mod start;

pub use shown::Shown;

use super::agent::{AgentProcess, Phase};
use super::{Logs, Recipe, StartError, StartFor, Stopped};
use crate::agents::credentials::Masks;
use crate::process::Engine;
use shown::show;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
