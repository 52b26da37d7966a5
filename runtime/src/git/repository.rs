//! One repository, found from a directory and judged before anything of it is read.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use rustix::io::fcntl_dupfd_cloexec;

use super::command::{Caller, GitError, Output};
use crate::process::{Engine, Owner};

/// Most bytes read of answers that are only about the repository itself.
const SMALL: usize = 1 << 20;

/// Who looks, and for how long.
#[derive(Debug)]
pub struct Looking {
    /// What runs git.
    pub engine: Arc<Engine>,
    /// For whom.
    pub owner: Owner,
    /// Until when.
    pub deadline: Instant,
}

/// A repository that may be looked at.
#[derive(Debug)]
pub struct Repository {
    caller: Caller,
    directory: OwnedFd,
    /// Settings that switch off what this repository's own would run.
    settings: Vec<String>,
}

impl Repository {
    /// Finds the repository around a directory. `allowed` says whether a place may be read; the working tree, the data,
    /// the data shared among worktrees and every alternate are asked for.
    ///
    /// # Errors
    /// There is none, or it lies outside what is allowed.
    pub async fn find(
        looking: Looking,
        directory: OwnedFd,
        allowed: impl Fn(&[u8]) -> bool,
    ) -> Result<Self, GitError> {
        let caller = Caller { engine: looking.engine, owner: looking.owner, deadline: looking.deadline };
        let mut repository = Self { caller, directory, settings: Vec::new() };
        let places = ["--path-format=absolute", "--git-dir", "--git-common-dir", "--show-toplevel"];
        let places = [&["rev-parse"], places.as_slice()].concat();
        let found = repository.run(&places, SMALL).await?.bytes;
        for place in found.split(|byte| *byte == b'\n').filter(|place| !place.is_empty()) {
            if !allowed(place) {
                return Err(GitError::Outside(place.to_vec()));
            }
        }
        let alternates =
            repository.run(&["rev-parse", "--path-format=absolute", "--git-path", "objects"], SMALL).await?;
        for place in alternates_of(&alternates.bytes) {
            if !allowed(&place) {
                return Err(GitError::Outside(place));
            }
        }
        repository.settings = repository.switches().await?;
        Ok(repository)
    }

    /// A bare repository of the server's own, which `directory` is: nobody else writes there, so that nothing has to be
    /// judged or switched off.
    #[must_use]
    pub fn own(looking: Looking, directory: OwnedFd) -> Self {
        let caller = Caller { engine: looking.engine, owner: looking.owner, deadline: looking.deadline };
        // The home of who runs git has no say either.
        Self { caller, directory, settings: vec!["core.attributesFile=/dev/null".to_owned()] }
    }

    /// Runs a git command that only reads.
    ///
    /// # Errors
    /// It failed or took too long.
    pub async fn run(&self, arguments: &[&str], keep: usize) -> Result<Output, GitError> {
        let directory = fcntl_dupfd_cloexec(&self.directory, 3).map_err(|_| GitError::NotStarted)?;
        self.caller.run(directory, &self.settings, arguments, keep).await
    }

    /// What switches off each filter and diff driver that the repository names.
    async fn switches(&self) -> Result<Vec<String>, GitError> {
        let names = self.run(&["config", "--list", "--name-only", "-z"], SMALL).await?.bytes;
        let mut switches = Vec::new();
        for name in names.split(|byte| *byte == 0) {
            let name = String::from_utf8_lossy(name);
            let Some((section, key)) = name.rsplit_once('.') else { continue };
            let runs = match section.split_once('.') {
                Some(("filter", _)) => matches!(key, "clean" | "smudge" | "process" | "required"),
                Some(("diff", _)) => matches!(key, "command" | "textconv"),
                _ => false,
            };
            if runs {
                let off = if key == "required" { "false" } else { "" };
                switches.push(format!("{name}={off}"));
            }
        }
        Ok(switches)
    }
}

/// The object stores that a repository borrows from, as its `objects` directory names them.
fn alternates_of(objects: &[u8]) -> Vec<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt as _;
    let objects = std::path::Path::new(std::ffi::OsStr::from_bytes(objects.trim_ascii_end()));
    let text = std::fs::read(objects.join("info/alternates")).unwrap_or_default();
    text.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty() && !line.starts_with(b"#"))
        // A relative one starts at the objects.
        .map(|line| objects.join(std::ffi::OsStr::from_bytes(line)).as_os_str().as_bytes().to_vec())
        .collect()
}
