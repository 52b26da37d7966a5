//! A command that is a program: words with placeholders, or a script. Values reach a script as variables, never as text
//! of the script, so that no value can become code.

use super::{Arguments, Template, template};
use crate::process::{Engine, Exit, Full, Kind, Launch, Owner, Screen, Stdin, ToolError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// Bytes of standard error that are shown of a run that failed.
const SHOWN_ERRORS: usize = 4096;

/// What is started.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its words; the first names the program and has no placeholder. With a script: the interpreter and its options.
    pub command: Vec<Template>,
    /// A script that the interpreter gets as its last word.
    pub script: Option<Script>,
    /// How its output is read.
    pub output: Output,
}

/// The text of a script.
#[derive(Debug, Clone)]
pub struct Script(pub String);

/// How the standard output of a program becomes the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// As text, without the line break at its end.
    Text,
    /// As one JSON document.
    Json,
}

impl Output {
    /// All.
    pub const ALL: [Self; 2] = [Self::Text, Self::Json];

    /// As declarations write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

/// Why a program has no result.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It did not start.
    #[error(transparent)]
    NotStarted(#[from] ToolError),
    /// It took too long and was ended.
    #[error("Command timed out after {} seconds", .0.as_secs_f64())]
    Timeout(Duration),
    /// It ended with a status other than 0, or by a signal.
    #[error("Command exited with status {}", exit.exit_code())]
    Failed {
        /// How it ended.
        exit: Exit,
        /// The end of its standard error.
        stderr: String,
    },
    /// Its output is longer than is kept.
    #[error("The output is larger than {0} bytes")]
    TooLong(u64),
    /// Its output is not the JSON that was declared.
    #[error("The output is not JSON: {0}")]
    NotJson(serde_json::Error),
}

/// One run of a program.
#[derive(Debug)]
pub struct Run {
    /// For display.
    pub title: String,
    /// Where it starts.
    pub directory: OwnedFd,
    /// How long it may take.
    pub time: Duration,
    /// Bytes kept of its output.
    pub keep: u64,
    /// Who calls.
    pub owner: Owner,
}

impl Program {
    /// Runs it to its end. Whoever drops the future ends it.
    ///
    /// # Errors
    /// It did not start, did not end in time, failed, or printed too much or something else than it should.
    pub async fn run(
        &self,
        engine: &Arc<Engine>,
        arguments: &Arguments,
        run: Run,
    ) -> Result<Value, ProgramError> {
        let mut words: Vec<String> = self.command.iter().filter_map(|word| word.fill(arguments)).collect();
        let name = words.first().map_or("", String::as_str);
        let program = engine.programs.find(name, run.directory.as_fd()).map_err(ToolError::from)?;
        let mut variables = BTreeMap::new();
        if let Some(Script(text)) = &self.script {
            words.push(text.clone());
            let named = arguments.iter().map(|(name, value)| (variable(name), template::text(value)));
            variables.extend(named);
        }
        let environment = engine.environment.block(&variables, |_| false).map_err(ToolError::from)?;
        let job = engine.spawn(Launch {
            program,
            title: run.title,
            arguments: words,
            environment,
            directory: run.directory,
            input: Stdin::Empty,
            screen: Screen::Pipes,
            keep: usize::try_from(run.keep).unwrap_or(usize::MAX),
            full: Full::KeepHead,
            lifetime: Some(run.time),
            kind: Kind::Call,
            owner: run.owner,
        });
        let job = job.map_err(ToolError::from)?;
        let ended = job.to_end().await;
        let exit = ended.exit;
        if exit.timed_out() {
            return Err(ProgramError::Timeout(run.time));
        }
        if exit.exit_code() != 0 {
            let stderr = ended.stderr.tail(SHOWN_ERRORS).into_owned();
            return Err(ProgramError::Failed { exit, stderr });
        }
        if ended.stdout.truncated {
            return Err(ProgramError::TooLong(run.keep));
        }
        self.result(&ended.stdout.bytes)
    }

    fn result(&self, output: &[u8]) -> Result<Value, ProgramError> {
        match self.output {
            Output::Json => serde_json::from_slice(output).map_err(ProgramError::NotJson),
            Output::Text => {
                let text = String::from_utf8_lossy(output);
                Ok(Value::String(text.strip_suffix('\n').unwrap_or(&text).to_owned()))
            }
        }
    }
}

/// The variable that a script finds an argument in: `ARG_NAME`.
#[must_use]
pub fn variable(argument: &str) -> String {
    format!("ARG_{}", argument.to_ascii_uppercase())
}
