//! Why no agent runs.

use crate::agents::acp::{Ended, RpcError, RpcFault};
use crate::agents::store::StoreError;
use crate::error::{ApiError, ErrorCode};
use crate::guard::{GuardError, RefusalKind};
use crate::process::{SpawnError, VariableError};
use serde_json::json;

/// Why an agent did not start, or did not shake hands.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no such agent.
    #[error("there is no agent `{0}`")]
    Unknown(String),
    /// What is known of it cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The credentials cannot be read.
    #[error("the credentials cannot be read")]
    Credentials(#[source] std::io::Error),
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

impl From<StartError> for ApiError {
    fn from(error: StartError) -> Self {
        let text = error.to_string();
        match error {
            StartError::Refused(refusal) => refusal,
            StartError::Store(error) => error.into(),
            StartError::Unknown(id) => unknown_agent(&id),
            StartError::Place(error) => place_refused("cwd", &error),
            StartError::NotInstalled(command) => {
                Self::new(ErrorCode::AgentNotInstalled, text).with("command", command)
            }
            StartError::Variable(VariableError::Refused { .. }) => {
                Self::new(ErrorCode::VariableNotAllowed, text).rule("default:base")
            }
            StartError::Variable(_) => Self::invalid("env", text),
            StartError::TooMany { limit } => {
                Self::new(ErrorCode::TooManyProcesses, text).with("limit", limit).retry_after(1)
            }
            StartError::Spawn(SpawnError::Stopping) => Self::new(ErrorCode::Draining, text),
            StartError::Spawn(_) | StartError::Busy => Self::new(ErrorCode::AgentUnavailable, text),
            StartError::Log(_) | StartError::Credentials(_) => Self::internal(text),
            StartError::Ended { ended, stderr_tail } => Self::new(ErrorCode::AgentUnavailable, text)
                .with("stderr_tail", stderr_tail)
                .with("exit_code", json!(ended.exit_code))
                .with("signal", json!(ended.signal)),
            StartError::Timeout { stderr_tail } => {
                Self::new(ErrorCode::AgentTimeout, text).with("stderr_tail", stderr_tail)
            }
            StartError::Protocol { fault, stderr_tail, .. } => Self::new(ErrorCode::AgentProtocolError, text)
                .with("rpc_error", json!(fault))
                .with("stderr_tail", stderr_tail),
        }
    }
}

/// 404 for an agent that is not in the catalogue.
#[must_use]
pub fn unknown_agent(agent_id: &str) -> ApiError {
    ApiError::new(ErrorCode::AgentNotFound, format!("There is no agent `{agent_id}`"))
        .with("agent_id", agent_id)
}

/// The answer to a directory that cannot be run in.
#[must_use]
pub fn place_refused(parameter: &str, error: &GuardError) -> ApiError {
    let code = match error {
        GuardError::InvalidPath(why) => return ApiError::invalid(parameter, format!("{parameter}: {why}")),
        GuardError::Refused(refusal) => match refusal.kind {
            RefusalKind::Symlink => ErrorCode::SymlinkDenied,
            RefusalKind::Denied => ErrorCode::PathDenied,
            RefusalKind::ReadOnly => ErrorCode::ReadOnly,
            RefusalKind::NotAllowed | RefusalKind::Extension => ErrorCode::PathNotAllowed,
        },
        _ => return ApiError::invalid(parameter, format!("{parameter} is not a directory")),
    };
    ApiError::new(code, format!("{parameter} is not an allowed directory")).with("parameter", parameter)
}

/// The answer where an agent that runs gave none. The texts of the fault are the agent's own: mask them first.
#[must_use]
pub fn no_answer(error: RpcError) -> ApiError {
    let text = error.to_string();
    match error {
        RpcError::Fault(fault) => {
            ApiError::new(ErrorCode::AgentProtocolError, text).with("rpc_error", json!(fault))
        }
        RpcError::Timeout => ApiError::new(ErrorCode::AgentTimeout, text),
        RpcError::Closed => ApiError::new(ErrorCode::AgentUnavailable, text),
        RpcError::TooLarge => ApiError::new(ErrorCode::RequestTooLarge, text),
    }
}
