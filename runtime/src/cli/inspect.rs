//! `inspect`: prints a compiled set as YAML, with the origin of each line.

use super::Exit;
use super::failure::Failure;
use super::files;
use super::output::Output;
use clap::Args;
use policy_lang::form;

/// Print a compiled set as YAML, with the rule and place that said each line
///
/// The routes of a template that the set was compiled with are shown as the set knows them. Exit status: 0 printed, 1 it is
/// no set that this tool loads, 2 usage, 3 it cannot be read or its page cannot be written.
#[derive(Debug, Args)]
pub(super) struct Inspect {
    /// Compiled set, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: String,
}

impl Inspect {
    pub(super) fn run(self, output: &mut Output) -> Exit {
        match page(&self.file) {
            Ok(page) => {
                output.print(&page);
                Exit::Success
            }
            Err(failure) => failure.tell(output),
        }
    }
}

fn page(file: &str) -> Result<String, Failure> {
    let (name, bytes) = files::document(file)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let resolved = form::read_alone(text).map_err(|error| Failure::set(name, &error))?;
    Ok(form::inspect::inspect(&resolved))
}
