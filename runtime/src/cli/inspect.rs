//! `inspect`: prints a compiled set as YAML, with the origin of each line.

use super::Exit;
use super::check_config::sources;
use super::output::Output;
use clap::Args;
use policy_lang::endpoint::Catalogue;
use policy_lang::form;
use std::sync::Arc;

/// Print a compiled set as YAML, with the rule and place that said each line
#[derive(Debug, Args)]
pub(super) struct Inspect {
    /// Compiled set, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: String,
}

impl Inspect {
    pub(super) fn run(self) -> Exit {
        let mut output = Output::default();
        let bytes = match sources(&[self.file]).map(|mut found| found.pop()) {
            Ok(source) => source.and_then(|source| source.bytes).unwrap_or_default(),
            Err(failure) => {
                output.complain(&failure.message);
                return failure.exit;
            }
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match form::read(&Arc::new(text), &Catalogue::builtin()) {
            Ok(resolved) => {
                output.print(&form::inspect::inspect(&resolved));
                Exit::Success
            }
            Err(error) => {
                output.complain(&error.to_string());
                Exit::Failure
            }
        }
    }
}
