//! The command line: one file a command, one row each here.

mod exit;
mod healthcheck;
mod serve;
mod version;

pub use exit::Exit;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The HTTP server of a sandbox container, and the compiler of the policy that governs it.
#[derive(Debug, Parser)]
#[command(name = "agent-sandbox-server", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(Box<serve::Serve>),
    Healthcheck(healthcheck::Healthcheck),
    Version(version::Version),
}

impl Command {
    fn run(self) -> Exit {
        match self {
            Self::Serve(command) => command.run(),
            Self::Healthcheck(command) => command.run(),
            Self::Version(command) => command.run(),
        }
    }
}

/// Reads the arguments and runs what they ask for.
#[must_use]
pub fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => cli.command.run().into(),
        Err(error) => {
            // To stdout for `--help`, to stderr for a mistake. Where that is closed nobody reads it anyway.
            let _ = error.print();
            if error.use_stderr() { Exit::Usage.into() } else { Exit::Success.into() }
        }
    }
}
