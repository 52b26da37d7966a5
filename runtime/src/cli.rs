//! The command line: one file a command, one row each here.

mod check_config;
mod compile;
mod completions;
mod diff;
mod endpoints;
mod exit;
mod failure;
mod files;
mod fmt;
mod healthcheck;
mod inspect;
mod learn;
mod lsp;
mod openapi;
mod output;
mod report;
mod rule;
mod schema;
mod serve;
mod test;
mod version;

pub use exit::Exit;

use output::Output;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The HTTP server of a sandbox container, and the compiler of the policy that governs it
///
/// A template author asks `check-config --explain` why a call is refused; a CI job gates changes with
/// `check-config --strict --json`; a container boots with `serve` from what `compile` wrote.
#[derive(Debug, Parser)]
#[command(name = "agent-sandbox-server", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    CheckConfig(Box<check_config::CheckConfig>),
    Test(test::Test),
    Fmt(fmt::Fmt),
    Learn(learn::Learn),
    Lsp(lsp::Lsp),
    Compile(compile::Compile),
    Diff(Box<diff::Diff>),
    Inspect(inspect::Inspect),
    Endpoints(endpoints::Endpoints),
    Schema(schema::Schema),
    Openapi(openapi::Openapi),
    Rule(rule::Rule),
    Completions(completions::Completions),
    Serve(Box<serve::Serve>),
    Healthcheck(healthcheck::Healthcheck),
    Version(version::Version),
}

/// What a container runs, again and again: at its start, and to be told healthy. Only the arguments of these two are built then.
#[derive(Debug, Parser)]
#[command(name = "agent-sandbox-server", disable_help_flag = true)]
enum Often {
    Serve(Box<serve::Serve>),
    Healthcheck(healthcheck::Healthcheck),
}

impl Command {
    /// Reads the arguments. Whatever is no plain call of what is called often is read, and answered, by the whole.
    fn read() -> Result<Self, clap::Error> {
        match Often::try_parse() {
            Ok(Often::Serve(command)) => Ok(Self::Serve(command)),
            Ok(Often::Healthcheck(command)) => Ok(Self::Healthcheck(command)),
            Err(_) => Cli::try_parse().map(|cli| cli.command),
        }
    }

    fn run(self, output: &mut Output) -> Exit {
        match self {
            Self::CheckConfig(command) => command.run(output),
            Self::Test(command) => command.run(output),
            Self::Fmt(command) => command.run(output),
            Self::Learn(command) => command.run(output),
            Self::Lsp(command) => command.run(output),
            Self::Compile(command) => command.run(output),
            Self::Diff(command) => command.run(output),
            Self::Inspect(command) => command.run(output),
            Self::Endpoints(command) => command.run(output),
            Self::Schema(command) => command.run(output),
            Self::Openapi(command) => command.run(output),
            Self::Rule(command) => command.run(output),
            Self::Completions(command) => command.run(output),
            Self::Serve(command) => command.run(),
            Self::Healthcheck(command) => command.run(),
            Self::Version(command) => command.run(output),
        }
    }
}

/// Reads the arguments and runs what they ask for.
#[must_use]
pub fn main() -> ExitCode {
    let mut output = Output::default();
    let exit = match Command::read() {
        Ok(command) => command.run(&mut output),
        Err(error) if error.use_stderr() => check_config::usage(error, &mut output),
        Err(help) => {
            output.help(&help);
            Exit::Success
        }
    };
    output.settle(exit).into()
}
