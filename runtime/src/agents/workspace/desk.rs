//! Where the work on one workspace is done: its store, one piece of work at a time, under the rules that hold now.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use policy_lang::endpoint::EndpointId;
use sha2::{Digest as _, Sha256};
use tokio::sync::OwnedMutexGuard;

use super::error::WorkspaceError;
use super::objects::Objects;
use super::snapshot::{self, Caps, Snapshot};
use crate::app::{App, PolicyState, index};
use crate::files::{Access, Stop};
use crate::git::{Looking, Repository};
use crate::guard::EndpointRules;
use crate::process::Owner;

/// The workspaces of a server. One piece of work at a time goes on in each.
#[derive(Debug, Default)]
pub struct Workspaces(Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>);

impl Workspaces {
    async fn lock(&self, cwd: &Path) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // Those that nobody holds or waits for are forgotten.
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            Arc::clone(locks.entry(cwd.to_owned()).or_default())
        };
        lock.lock_owned().await
    }
}

/// One workspace, held.
#[derive(Debug)]
pub struct Desk {
    app: Arc<App>,
    cwd: PathBuf,
    objects: Objects,
    _held: OwnedMutexGuard<()>,
}

impl Desk {
    /// Waits for the workspace `cwd`, and holds it.
    ///
    /// # Errors
    /// The store cannot be opened.
    pub async fn at(app: &Arc<App>, cwd: &str) -> Result<Self, WorkspaceError> {
        let cwd = PathBuf::from(cwd);
        let folder = folder(app.agents.store().await?.place().folder(), &cwd);
        let held = app.agents.workspaces.lock(&cwd).await;
        let objects = blocking(move || Ok(Objects::open(folder)?)).await?;
        Ok(Self { app: Arc::clone(app), cwd, objects, _held: held })
    }

    /// Its store.
    #[must_use]
    pub const fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Takes a snapshot, by the rules and limits of `agents_checkpoints_create`: the same for every snapshot, so that
    /// what differs between two of them is the workspace and not who looked.
    ///
    /// # Errors
    /// There is none.
    pub async fn snapshot(&self, named: Vec<Vec<u8>>) -> Result<Snapshot, WorkspaceError> {
        let (state, cwd, objects) = (self.app.policy(), self.cwd.clone(), self.objects.clone());
        blocking(move || {
            let rules = state.policy.endpoint(index(EndpointId::AgentsCheckpointsCreate));
            let rules = rules.ok_or(WorkspaceError::Unreachable)?;
            let limit =
                |limit: Option<policy_lang::policy::Ruled<u64>>, usual| limit.map_or(usual, |l| l.value);
            let caps = Caps {
                files: limit(rules.limits.max_entries, 10_000),
                bytes: limit(rules.limits.max_bytes, 100_000_000),
            };
            let time = Duration::from_secs(limit(rules.limits.timeout_seconds, 120));
            let stop = Stop::at(Instant::now().checked_add(time));
            let judge = EndpointRules::of(rules).ok_or(WorkspaceError::Unreachable)?;
            let access = Access { guard: &state.guard, judge: &judge, stop: &stop };
            Ok(snapshot::take(access, &objects, &cwd, &named, caps)?)
        })
        .await
    }

    /// Runs `work` on a blocking thread, with the files of the workspace under the rules of `endpoint`.
    ///
    /// # Errors
    /// Those of the work.
    pub async fn with_files<T: Send + 'static>(
        &self,
        state: Arc<PolicyState>,
        endpoint: EndpointId,
        time: Duration,
        work: impl FnOnce(Access<'_>, &Path, &Objects) -> Result<T, WorkspaceError> + Send + 'static,
    ) -> Result<T, WorkspaceError> {
        let (cwd, objects) = (self.cwd.clone(), self.objects.clone());
        blocking(move || {
            let rules = state.policy.endpoint(index(endpoint)).and_then(EndpointRules::of);
            let judge = rules.ok_or(WorkspaceError::Unreachable)?;
            let stop = Stop::at(Instant::now().checked_add(time));
            let access = Access { guard: &state.guard, judge: &judge, stop: &stop };
            work(access, &cwd, &objects)
        })
        .await
    }

    /// Runs `work` on the store, on a blocking thread.
    ///
    /// # Errors
    /// Those of the work.
    pub async fn with_objects<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Objects) -> std::io::Result<T> + Send + 'static,
    ) -> Result<T, WorkspaceError> {
        let objects = self.objects.clone();
        blocking(move || Ok(work(&objects)?)).await
    }

    /// Git on the store.
    ///
    /// # Errors
    /// The store cannot be opened.
    pub fn git(&self, owner: Owner, time: Duration) -> Result<Repository, WorkspaceError> {
        let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC;
        let directory = rustix::fs::open(self.objects.root(), flags, rustix::fs::Mode::empty())
            .map_err(std::io::Error::from)?;
        let deadline = Instant::now() + time;
        let looking = Looking { engine: Arc::clone(&self.app.processes), owner, deadline };
        Ok(Repository::own(looking, directory))
    }

    /// Throws the store away: no restore point of this workspace is left.
    ///
    /// # Errors
    /// The system's error.
    pub async fn discard(self) -> Result<(), WorkspaceError> {
        let folder = self.objects.root().to_owned();
        blocking(move || Ok(std::fs::remove_dir_all(folder)?)).await
    }
}

/// The store of a workspace: a folder named by a digest of its path.
fn folder(agents: PathBuf, cwd: &Path) -> PathBuf {
    let digest = Sha256::digest(cwd.as_os_str().as_bytes());
    let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    agents.join("shadow").join(name)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<T, WorkspaceError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| WorkspaceError::Unreachable)?
}
