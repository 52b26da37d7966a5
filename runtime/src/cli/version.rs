//! `version`: prints the version of the server.

use super::Exit;
use clap::Args;
use std::io::Write;

/// Print the version
#[derive(Debug, Args)]
pub(super) struct Version {}

impl Version {
    pub(super) fn run(self) -> Exit {
        let line = concat!("agent-sandbox-server ", env!("CARGO_PKG_VERSION"), "\n");
        match std::io::stdout().lock().write_all(line.as_bytes()) {
            Ok(()) => Exit::Success,
            Err(_) => Exit::Failure,
        }
    }
}
