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
        output.print(&script(self.shell));
        Exit::Success
    }
}

fn script(shell: Shell) -> String {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    // The generator for Bash writes the dashes of the program's name in two ways: as labels, and as what is compared with
    // them. Nothing would ever fit, so it is given a name without any, which it may say but in the last lines.
    let plain = if shell == Shell::Bash { name.replace('-', "_") } else { name.clone() };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, &plain, &mut script);
    String::from_utf8_lossy(&script)
        .replace(&format!("-o default {plain}\n"), &format!("-o default {name}\n"))
}
