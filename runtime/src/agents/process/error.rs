//! Why no agent runs.

use crate::agents::acp::{Ended, RpcFault};
use crate::error::ApiError;
use crate::guard::GuardError;
use crate::process::{SpawnError, VariableError};

/// Why an agent did not start, or did not shake hands.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The policy refuses, as it answers.
    #[error("{}", .0.message())]
    Refused(ApiError),
    /// The directory cannot be run in.
    #[error("the working directory cannot be used")]
    Place(GuardError),
    /// Its program is not here.
    #[error("the agent's program is not installed: `{0}`")]
    NotInstalled(String),
    /// A variable cannot be given to it.
    #[error(transparent)]
    Variable(#[from] VariableError),
    /// As many agents run as may.
    #[error("too many agent processes")]
    TooMany {
        /// How many may.
        limit: usize,
    },
    /// The machine has too little left now.
    #[error("the agent's program cannot be opened now")]
    Busy,
    /// Its log cannot be written.
    #[error("the log of the process cannot be written")]
    Log(#[source] std::io::Error),
    /// It was not started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// It ended before it had shaken hands.
    #[error("the agent ended before it had answered")]
    Ended {
        /// How.
        ended: Ended,
        /// The last it said.
        stderr_tail: String,
    },
    /// It did not answer.
    #[error("the agent did not answer in time")]
    Timeout {
        /// The last it said.
        stderr_tail: String,
    },
    /// It answered what is no handshake.
    #[error("{why}")]
    Protocol {
        /// What is wrong, in words.
        why: String,
        /// Its own words, where it refused.
        fault: Option<Box<RpcFault>>,
        /// The last it said.
        stderr_tail: String,
    },
}
