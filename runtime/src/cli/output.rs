//! Where a command writes: results on stdout, chatter on stderr. The only place of the command line that prints.

use std::io::{IsTerminal, Write};

/// Both streams of one command.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// Whether stdout broke; a closed pipe is no fault of ours, and nothing more is written.
    broken: bool,
}

impl Output {
    /// Writes a result to stdout as it is.
    pub(super) fn print(&mut self, text: &str) {
        if !self.broken {
            let mut stdout = std::io::stdout().lock();
            self.broken = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err();
        }
    }

    /// Writes a line of chatter to stderr.
    pub(super) fn note(&mut self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// Says what is wrong with the call itself, on stderr.
    pub(super) fn complain(&mut self, text: &str) {
        self.note(&format!("error: {text}"));
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
