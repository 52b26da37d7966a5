//! What a process is started with, and why one does not start.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use super::job::{Kind, Owner};
use super::programs::Program;
use super::ring::Full;

/// Everything that is to be known about a process before it starts.
#[derive(Debug)]
pub struct Launch {
    /// The judged program.
    pub program: Program,
    /// Its arguments, its own name first.
    pub arguments: Vec<String>,
    /// Its environment, from [`super::Environment::block`].
    pub environment: Vec<CString>,
    /// The opened working directory.
    pub directory: OwnedFd,
    /// What it reads.
    pub input: Stdin,
    /// Where it runs.
    pub screen: Screen,
    /// Bytes kept of each output stream.
    pub keep: usize,
    /// What happens beyond that.
    pub full: Full,
    /// How long it may live.
    pub lifetime: Option<Duration>,
    /// What it is for.
    pub kind: Kind,
    /// Who starts it.
    pub owner: Owner,
    /// The command for display.
    pub title: String,
}

/// Standard input.
#[derive(Debug)]
pub enum Stdin {
    /// End of file at once.
    Empty,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
    /// Open until a caller closes it.
    Open,
}

/// What the process sees as its screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// Two pipes, and no terminal anywhere.
    Pipes,
    /// A terminal of its own; standard input is the terminal too.
    Terminal {
        /// Width in characters.
        columns: u16,
        /// Height in lines.
        rows: u16,
    },
}

/// Why a process did not start.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// Arguments and environment are longer than the kernel takes.
    #[error("the command line and its environment are too long")]
    TooLong,
    /// An argument holds a NUL byte.
    #[error("an argument holds a NUL byte")]
    Nul,
    /// The file is no program for this machine, or may not be executed.
    #[error("`{0}` cannot be executed")]
    NotExecutable(String),
    /// As many processes run as may.
    #[error("too many processes")]
    TooMany {
        /// How many may.
        limit: usize,
    },
    /// As many terminals are open as may.
    #[error("Too many terminal sessions")]
    TooManyTerminals {
        /// How many may.
        limit: usize,
    },
    /// The server is stopping.
    #[error("the server is stopping")]
    Stopping,
    /// The machine has no more processes, descriptors or memory.
    #[error("the process could not be started")]
    System(#[source] io::Error),
}
