//! What kept a command from being carried out, and with which status it ends.

use super::Exit;
use super::output::Output;
use crate::boot::Fault;
use policy_lang::form::FormError;
use std::fmt::Display;

/// A message about no document, perhaps with what to do about it.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) exit: Exit,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Failure {
    /// The command line is wrong.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// What was named is not what it should be.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failure, message)
    }

    /// What was named cannot be read or written.
    pub(super) fn unreadable(message: impl Into<String>) -> Self {
        Self::new(Exit::Unreadable, message)
    }

    /// A fault of this program.
    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(Exit::Internal, message)
    }

    /// An input cannot be read.
    pub(super) fn read(name: &str, why: &impl Display) -> Self {
        Self::unreadable(format!("cannot read `{name}`: {why}"))
    }

    /// An output cannot be written.
    pub(super) fn write(name: &str, why: &impl Display) -> Self {
        Self::unreadable(format!("cannot write `{name}`: {why}"))
    }

    /// A compiled set is refused.
    pub(super) fn set(name: &str, error: &FormError) -> Self {
        Self { help: Some(error.help().to_owned()), ..Self::failed(format!("{name}: {error}")) }
    }

    /// What keeps a server from starting keeps a command from looking.
    pub(super) fn of(fault: &Fault, exit: Exit) -> Self {
        Self { exit, message: fault.message().to_owned(), help: fault.advice().map(str::to_owned) }
    }

    /// Says it on stderr and gives the status.
    pub(super) fn tell(&self, output: &mut Output) -> Exit {
        output.complain(&self.message, self.help.as_deref());
        self.exit
    }

    fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), help: None }
    }
}
