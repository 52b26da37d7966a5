//! `rule CODE`: the reference page of a diagnostic.

use super::Exit;
use super::check_config::code;
use super::output::Output;
use clap::Args;
use policy_lang::diag::page;
use policy_lang::diag::page::reference;

/// Explain a diagnostic code: what it means, an example that has it, the same example mended
#[derive(Debug, Args)]
pub(super) struct Rule {
    /// The code, such as unknown-endpoint
    #[arg(required_unless_present = "all")]
    code: Option<String>,
    /// The pages of every code, as one Markdown document
    #[arg(long, conflicts_with = "code")]
    all: bool,
}

impl Rule {
    pub(super) fn run(self, output: &mut Output) -> Exit {
        match self.code.as_deref().map(code) {
            None => output.print(&reference()),
            Some(Ok(code)) => output.print(&page(code).text()),
            Some(Err(message)) => {
                output.complain(&message, None);
                return Exit::Usage;
            }
        }
        Exit::Success
    }
}
