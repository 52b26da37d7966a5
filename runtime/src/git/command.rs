//! How git is called: the same way always, with everything off that a repository could make it run.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::process::{Engine, Owner, Printed, Tool, ToolError};

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git here.
    #[error("git is not installed")]
    Absent,
    /// It did not start.
    #[error("git could not be started")]
    NotStarted,
    /// It took too long.
    #[error("git timed out")]
    TimedOut,
    /// It failed; its own message.
    #[error("{0}")]
    Failed(String),
    /// The repository keeps its data, or its tree, in this place outside the allowed directories.
    #[error("the repository lies outside the allowed directories")]
    Outside(Vec<u8>),
}

/// What git printed, and whether there was more.
#[derive(Debug)]
pub struct Output {
    /// Its standard output.
    pub bytes: Vec<u8>,
    /// Whether more came than was kept.
    pub truncated: bool,
}

/// Settings that switch programs and surprises off, whatever the repository's own say.
const SETTINGS: [&str; 10] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.askPass=false",
    "core.quotePath=false",
    "diff.external=",
    "protocol.allow=never",
    "submodule.recurse=false",
    // Whose the files are does not matter where nothing of them is run.
    "safe.directory=*",
];

/// Variables that keep the machine's and the user's settings out, and git from asking anybody anything.
const VARIABLES: [(&str, &str); 7] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("LC_ALL", "C.UTF-8"),
    ("PAGER", "cat"),
];

/// What all calls about one repository share.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) engine: Arc<Engine>,
    pub(super) owner: Owner,
    pub(super) deadline: Instant,
}

impl Caller {
    /// Runs git in a directory; `settings` come on top of the fixed ones.
    pub(super) async fn run(
        &self,
        directory: OwnedFd,
        settings: &[String],
        arguments: &[&str],
        keep: usize,
    ) -> Result<Output, GitError> {
        let mut words = vec!["--no-optional-locks".to_owned(), "--literal-pathspecs".to_owned()];
        for setting in SETTINGS.iter().map(|setting| (*setting).to_owned()).chain(settings.iter().cloned()) {
            words.extend(["-c".to_owned(), setting]);
        }
        words.extend(arguments.iter().map(|word| (*word).to_owned()));
        let time = self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let ran = self.engine.run(Tool {
            name: "git",
            arguments: words,
            variables: &VARIABLES,
            directory,
            time,
            keep,
            owner: Arc::clone(&self.owner),
        });
        let ran = ran.await.map_err(|error| match error {
            ToolError::Absent(_) => GitError::Absent,
            _ => GitError::NotStarted,
        })?;
        if ran.exit.timed_out() {
            return Err(GitError::TimedOut);
        }
        if ran.exit.exit_code() != 0 {
            let errors = ran.stderr.into_text();
            let message = errors.lines().next().unwrap_or("git failed").trim_start_matches("fatal: ");
            return Err(GitError::Failed(message.to_owned()));
        }
        let Printed { bytes, truncated } = ran.stdout;
        Ok(Output { bytes, truncated })
    }
}
