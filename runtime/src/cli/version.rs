//! `version`: prints the version of the server.

use super::Exit;
use super::output::Output;
use clap::Args;

/// Print the version
#[derive(Debug, Args)]
pub(super) struct Version {}

impl Version {
    pub(super) fn run(self, output: &mut Output) -> Exit {
        output.print(concat!("agent-sandbox-server ", env!("CARGO_PKG_VERSION"), "\n"));
        Exit::Success
    }
}
