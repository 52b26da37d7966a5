//! Agents installed for this server alone, each in a folder of its own; nothing of the system is touched.
//!
//! The folders lie beside the state folder and not in it: children that run as a user of their own must get at them.
//! Each install is a new folder beneath its agent's; when it is whole it becomes the agent's, and the earlier one goes.
//!
//! | module | |
//! |---|---|
//! | `report` | what is told while it goes on |
//! | `run` | a tool of the install, its output line by line |
//! | `range` | the versions of a runtime that a package asks for |
//! | `npm`, `pypi`, `archive` | where an agent comes from |
//! | `unpack` | an archive into files |

mod archive;
mod npm;
mod pypi;
mod range;
mod report;
mod run;
mod unpack;

pub use report::{Report, Step};

use super::catalogue::{Entry, Install};
use super::ids;
use super::process::Judge;
use super::store::now;
use crate::egress;
use crate::error::ApiError;
use crate::process::Engine;
use std::collections::HashSet;
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What an install is asked for.
#[derive(Debug)]
pub struct Wanted {
    /// The agent.
    pub entry: Entry,
    /// A version; the newest, where none is named.
    pub version: Option<String>,
    /// Whether one that is there already is installed anew.
    pub force: bool,
    /// Whether packages may run code of theirs while they are installed.
    pub allow_scripts: bool,
    /// By whose rules.
    pub judge: Judge,
    /// And for what is fetched.
    pub egress: egress::Judge,
    /// How long it may take.
    pub time: Duration,
}

/// Why an install came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Before it began: the answer of the call.
    #[error("{}", .0.message())]
    Refused(ApiError),
    /// A tool failed, or what it left is no agent.
    #[error("{0}")]
    Failed(String),
    /// What was fetched is not what was named.
    #[error("the archive has another checksum: {0}")]
    Checksum(String),
    /// It took too long.
    #[error("the install took longer than it may")]
    TimedOut,
}

impl InstallError {
    /// Its code in an event.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(error) => error.code().as_str(),
            Self::Failed(_) => "install_failed",
            Self::Checksum(_) => "checksum_mismatch",
            Self::TimedOut => "timeout",
        }
    }
}

/// All installs of a server.
#[derive(Debug)]
pub struct Installs {
    root: PathBuf,
    busy: Arc<Mutex<HashSet<String>>>,
}

/// Nobody else installs or removes the agent while this is held.
#[derive(Debug)]
pub struct Held {
    agent_id: String,
    busy: Arc<Mutex<HashSet<String>>>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.agent_id);
    }
}

/// What is known before an install begins.
#[derive(Debug)]
pub struct Ready {
    plan: Plan,
    wanted: Wanted,
}

#[derive(Debug)]
enum Plan {
    Npm(npm::Package),
    Pypi(pypi::Package),
    Archive(super::catalogue::ArchiveSource),
}

impl Installs {
    /// Installs beneath a folder, which is made when it is first needed.
    #[must_use]
    pub fn new(state_dir: &Path) -> Self {
        let mut root = state_dir.as_os_str().to_owned();
        root.push("-packages");
        Self { root: root.into(), busy: Arc::default() }
    }

    /// Takes an agent for an install or a removal; none where somebody else has it.
    #[must_use]
    pub fn hold(&self, agent_id: &str) -> Option<Held> {
        let fresh = self.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(agent_id.to_owned());
        fresh.then(|| Held { agent_id: agent_id.to_owned(), busy: Arc::clone(&self.busy) })
    }

    /// Finds out what is to be installed, and whether the machine has what it needs.
    ///
    /// # Errors
    /// [`InstallError::Refused`] with the answer of the call, or why it cannot be found out.
    pub async fn prepare(&self, engine: &Arc<Engine>, wanted: Wanted) -> Result<Ready, InstallError> {
        let source = wanted.entry.definition.install.clone().unwrap_or_default();
        let plan = match (source.npm, source.pypi, source.archive) {
            (Some(package), _, _) => Plan::Npm(npm::find(engine, &wanted, &package).await?),
            (_, Some(package), _) => Plan::Pypi(pypi::find(engine, &wanted, &package)?),
            (_, _, Some(archive)) => Plan::Archive(archive),
            _ => {
                let message = "The agent names no package; install its program yourself".to_owned();
                return Err(InstallError::Refused(ApiError::invalid("agent_id", message)));
            }
        };
        Ok(Ready { plan, wanted })
    }

    /// Installs. What it says is reported; what it leaves where it fails is removed.
    ///
    /// # Errors
    /// See [`InstallError`].
    pub async fn run(
        &self,
        engine: &Arc<Engine>,
        ready: Ready,
        report: &Report,
    ) -> Result<Install, InstallError> {
        let Ready { plan, wanted } = ready;
        let (source, version) = match &plan {
            Plan::Npm(package) => ("npm", package.version.clone()),
            Plan::Pypi(package) => ("pypi", package.version.clone().unwrap_or_else(|| "latest".to_owned())),
            Plan::Archive(archive) => ("archive", archive.sha256.to_ascii_lowercase()),
        };
        report.step(Step::Started { source, version: version.clone() });
        if let Some(there) = &wanted.entry.facts.install
            && !wanted.force
            && (there.source.as_str(), there.version.as_str()) == (source, version.as_str())
            && Path::new(&there.command).exists()
        {
            return Ok(there.clone());
        }
        let agent = self.root.join(&wanted.entry.definition.id);
        let folder = agent.join(ids::new("ins_"));
        self.make(engine, &agent, &folder).map_err(failed)?;
        let going = async {
            match plan {
                Plan::Npm(package) => npm::install(engine, &wanted, &package, &folder, report).await,
                Plan::Pypi(package) => pypi::install(engine, &wanted, &package, &folder, report).await,
                Plan::Archive(archive) => archive::install(&wanted, &archive, &folder, report).await,
            }
        };
        let done = tokio::time::timeout(wanted.time, going).await.unwrap_or(Err(InstallError::TimedOut));
        let at = folder.clone();
        let settled = tokio::task::spawn_blocking(move || match done {
            Ok((version, command)) => {
                remove_others(&agent, &at);
                let command = command.to_string_lossy().into_owned();
                Ok(Install { source: source.to_owned(), version, command, bytes: size(&at), at: now() })
            }
            Err(error) => {
                // What cannot be removed now goes with the next install.
                let _ = std::fs::remove_dir_all(&at);
                Err(error)
            }
        });
        settled.await.unwrap_or_else(|_| Err(InstallError::Failed("the install was cut short".to_owned())))
    }

    /// Removes what was installed of an agent; bytes that became free, none where nothing was. Works on files.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove(&self, _held: &Held, agent_id: &str) -> io::Result<Option<u64>> {
        let agent = self.root.join(agent_id);
        if !agent.is_dir() {
            return Ok(None);
        }
        let bytes = size(&agent);
        std::fs::remove_dir_all(&agent)?;
        Ok(Some(bytes))
    }

    /// Makes the folder of one install. Only it belongs to the user that children run as.
    fn make(&self, engine: &Engine, agent: &Path, folder: &Path) -> io::Result<()> {
        for folder in [self.root.as_path(), agent, folder] {
            match std::fs::DirBuilder::new().mode(0o755).create(folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))?;
        }
        match engine.child() {
            Some(child) => chown(folder, Some(child.uid), Some(child.gid)),
            None => Ok(()),
        }
    }
}

fn failed(error: impl std::fmt::Display) -> InstallError {
    InstallError::Failed(error.to_string())
}

/// Removes earlier installs. One that is still used goes from the disk when its processes have ended.
fn remove_others(agent: &Path, keep: &Path) {
    for entry in std::fs::read_dir(agent).into_iter().flatten().flatten() {
        if entry.path() != keep {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Bytes of all files beneath a folder; links are not followed.
fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(found) if found.is_dir() => size(&entry.path()),
            Ok(found) if found.is_file() => found.len(),
            _ => 0,
        })
        .sum()
}

/// The program of an install, if it is one that the kernel can run.
fn program(path: PathBuf) -> Result<PathBuf, InstallError> {
    let name = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match std::fs::metadata(&path) {
        Ok(found) if found.is_file() && found.permissions().mode() & 0o111 != 0 => {}
        _ => return Err(InstallError::Failed(format!("what was installed has no program `{}`", name()))),
    }
    let mut first = [0; 4];
    let read = std::fs::File::open(&path).and_then(|mut file| file.read(&mut first)).map_err(failed)?;
    let first = first.get(..read).unwrap_or_default();
    if first.starts_with(b"#!") || first == b"\x7fELF" {
        return Ok(path);
    }
    // Some packages put a note in the place of a program that a script of theirs would fetch.
    Err(InstallError::Failed(format!(
        "the program `{}` cannot be run as it was installed; its package may have to run scripts: `allow_scripts`",
        name()
    )))
}
