//! The start of what was judged, and the answer to what has ended.

use std::ffi::CString;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::{Directory, directory, environment, limit, owner, program, refused};
use crate::endpoint::{Call, JsonBody};
use crate::error::ApiError;
use crate::process::{Ended, Full, Job, Kind, Launch, Program, Screen, Stdin, masking};

/// Bytes kept of each stream of a call that waits, where the rules say nothing.
const OUTPUT: u64 = 16 << 20;

/// A command that the policy lets run, with all that it needs.
#[derive(Debug)]
pub(in super::super) struct Judged {
    pub(in super::super) program: Program,
    /// The program's own name first.
    pub(in super::super) arguments: Vec<String>,
    pub(in super::super) environment: Vec<CString>,
    pub(in super::super) directory: Directory,
    /// For display.
    pub(in super::super) title: String,
}

/// How a process is to run.
#[derive(Debug)]
pub(in super::super) struct Manner {
    pub(in super::super) input: Stdin,
    pub(in super::super) screen: Screen,
    pub(in super::super) keep: usize,
    pub(in super::super) full: Full,
    pub(in super::super) lifetime: Option<Duration>,
    pub(in super::super) kind: Kind,
}

impl Judged {
    /// Judges these words in the surroundings that `cwd` and `env` of a body ask for.
    ///
    /// # Errors
    /// The first of directory, program and variables that is wrong or refused.
    pub(in super::super) fn of(
        call: &Call,
        arguments: Vec<String>,
        body: &mut JsonBody,
    ) -> Result<Self, ApiError> {
        let directory = directory(call, "cwd", body.text("cwd")?.as_deref())?;
        let program = program(call, arguments.first().map_or("", String::as_str), &directory)?;
        let environment = environment(call, body.text_map("env")?, &directory)?;
        let title = masking::display(&arguments);
        Ok(Self { program, arguments, environment, directory, title })
    }

    /// What the engine is told.
    pub(in super::super) fn launch(self, call: &Call, manner: Manner) -> Launch {
        Launch {
            program: self.program,
            title: self.title,
            arguments: self.arguments,
            environment: self.environment,
            directory: self.directory.handle,
            input: manner.input,
            screen: manner.screen,
            keep: manner.keep,
            full: manner.full,
            lifetime: manner.lifetime,
            kind: manner.kind,
            owner: owner(call),
        }
    }

    /// Starts it.
    ///
    /// # Errors
    /// It does not start.
    pub(in super::super) fn start(self, call: &Call, manner: Manner) -> Result<Arc<Job>, ApiError> {
        let launch = self.launch(call, manner);
        call.app().processes.spawn(launch).map_err(|error| refused(&error))
    }
}

impl Manner {
    /// A call that waits for the end: no input, no terminal, the beginning of the output kept.
    pub(in super::super) fn of_a_call(call: &Call, lifetime: Duration) -> Self {
        let keep = limit(call, |limits| limits.max_output_bytes, OUTPUT);
        Self {
            input: Stdin::Empty,
            screen: Screen::Pipes,
            keep: usize::try_from(keep).unwrap_or(usize::MAX),
            full: Full::KeepHead,
            lifetime: Some(lifetime),
            kind: Kind::Call,
        }
    }
}

/// The answer to a command that has ended: the body, or what goes before further members.
#[derive(Debug, Serialize)]
pub(in super::super) struct Output {
    stdout: String,
    stderr: String,
    exit_code: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stdout_truncated: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stderr_truncated: bool,
}

impl From<Ended> for Output {
    fn from(ended: Ended) -> Self {
        Self {
            exit_code: ended.exit.exit_code(),
            signal: ended.exit.signal,
            stdout_truncated: ended.stdout.truncated,
            stderr_truncated: ended.stderr.truncated,
            stdout: ended.stdout.into_text(),
            stderr: ended.stderr.into_text(),
        }
    }
}
