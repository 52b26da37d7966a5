//! `completions`: the script that completes this command line in a shell.

use super::output::Output;
use super::{Cli, Exit};
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Print the completion script of a shell
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, output: &mut Output) -> Exit {
        let mut command = Cli::command();
        let name = command.get_name().to_owned();
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, name, &mut script);
        output.print(&String::from_utf8_lossy(&script));
        Exit::Success
    }
}
