//! Where a command writes: results on stdout, chatter on stderr. The only place of the command line that prints.

use super::Exit;
use policy_lang::diag::harmless_line;
use std::io::{Error, ErrorKind, IsTerminal, Write};

/// Both streams of one command.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// Why stdout broke; nothing more is written then.
    broken: Option<Error>,
}

impl Output {
    /// Writes a result to stdout as it is.
    pub(super) fn print(&mut self, text: &str) {
        if self.broken.is_none() {
            let mut stdout = std::io::stdout().lock();
            self.broken = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).err();
        }
    }

    /// Prints what clap has to say on stdout, in its colours.
    pub(super) fn help(&mut self, help: &clap::Error) {
        self.broken = help.print().and_then(|()| std::io::stdout().flush()).err();
    }

    /// How a command ends that would end so had its output been taken. A reader that went away is no fault of ours.
    pub(super) fn settle(&mut self, exit: Exit) -> Exit {
        match self.broken.take() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => {
                self.complain(&format!("cannot write to standard output: {error}"), None);
                exit.worse(Exit::Unreadable)
            }
            _ => exit,
        }
    }

    /// Writes a line of chatter to stderr.
    pub(super) fn note(&mut self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{}", harmless_line(text));
    }

    /// Says what is wrong with the call itself, and what to do about it, on stderr.
    pub(super) fn complain(&mut self, text: &str, help: Option<&str>) {
        self.note(&format!("error: {text}"));
        if let Some(help) = help {
            self.note(&format!("  help: {help}"));
        }
    }

    /// Writes text to stderr as it is.
    pub(super) fn chatter(&mut self, text: &str) {
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }

    /// Whether stdout takes colour: it is a terminal, and `NO_COLOR` is unset or empty.
    pub(super) fn colour(&self) -> bool {
        std::io::stdout().is_terminal() && !crate::env::no_colour()
    }

    /// Whether stderr takes colour.
    pub(super) fn colour_on_stderr(&self) -> bool {
        std::io::stderr().is_terminal() && !crate::env::no_colour()
    }
}
