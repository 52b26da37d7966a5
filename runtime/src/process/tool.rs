//! Runs a program of the server's own choosing to its end and takes its output: git, pip, an interpreter.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use super::{Ended, Engine, FindError, Full, Kind, Launch, Owner, Screen, SpawnError, Stdin, VariableError};

/// What to run.
#[derive(Debug)]
pub struct Tool<'a> {
    /// Name of the program, looked up in the server's own `PATH`.
    pub name: &'a str,
    /// Its arguments, without its name.
    pub arguments: Vec<String>,
    /// Variables beside those that every child gets; not checked, so never a caller's.
    pub variables: &'a [(&'a str, &'a str)],
    /// Where it starts.
    pub directory: OwnedFd,
    /// How long it may take.
    pub time: Duration,
    /// Bytes kept of each stream, from the beginning.
    pub keep: usize,
    /// Who asks.
    pub owner: Owner,
}

/// Why it did not run.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// There is no such program here.
    #[error(transparent)]
    Absent(#[from] FindError),
    /// A variable cannot be passed on.
    #[error(transparent)]
    Variable(#[from] VariableError),
    /// It did not start.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
}

impl Engine {
    /// Runs a tool to its end. Whoever drops the future ends it.
    ///
    /// # Errors
    /// It is not there or did not start. A failed run is no error.
    pub async fn run(self: &Arc<Self>, tool: Tool<'_>) -> Result<Ended, ToolError> {
        let program = self.programs.find(tool.name, tool.directory.as_fd())?;
        let mut environment = self.environment.block(&BTreeMap::new(), |_| false)?;
        let own = |entry: &std::ffi::CString| {
            let name = entry.to_bytes().split(|byte| *byte == b'=').next().unwrap_or_default();
            tool.variables.iter().any(|(set, _)| OsStr::new(set).as_encoded_bytes() == name)
        };
        environment.retain(|entry| !own(entry));
        environment.extend(
            tool.variables.iter().filter_map(|(n, v)| std::ffi::CString::new(format!("{n}={v}")).ok()),
        );
        let mut arguments = vec![tool.name.to_owned()];
        arguments.extend(tool.arguments);
        let job = self.spawn(Launch {
            program,
            title: tool.name.to_owned(),
            arguments,
            environment,
            directory: tool.directory,
            input: Stdin::Empty,
            screen: Screen::Pipes,
            keep: tool.keep,
            full: Full::KeepHead,
            lifetime: Some(tool.time),
            kind: Kind::Call,
            owner: tool.owner,
        })?;
        Ok(job.to_end().await)
    }
}
