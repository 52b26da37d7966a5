//! `fmt`: lays documents out in one style, without changing what they say.

use super::Exit;
use super::check_config::{Source, sources};
use super::failure::Failure;
use super::files;
use super::output::Output;
use clap::Args;
use policy_lang::diag::harmless_line;
use policy_lang::fmt::{Unformatted, format};
use policy_lang::render::{self, RenderOptions};

/// Format policy documents: blanks alone change, never what a document says
///
/// Comments, the order of keys, quotes and line ends stay. Of a template only `server:` and `server_tests:` are touched.
/// `-` reads standard input and prints the result.
///
/// Exit status: 0 done, 1 with --check or --diff a file is not formatted; a document cannot be read as YAML or JSON,
/// 2 usage, 3 a file cannot be read or written.
#[derive(Debug, Args)]
pub(super) struct Fmt {
    /// Document or template, or `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Name the files that are not formatted, and write nothing
    #[arg(long)]
    check: bool,
    /// Show what would change, and write nothing
    #[arg(long)]
    diff: bool,
}

impl Fmt {
    pub(super) fn run(self, output: &mut Output) -> Exit {
        let mut worst = Exit::Success;
        // A file that cannot be read keeps no other from being formatted.
        for name in &self.files {
            let done = sources(std::slice::from_ref(name)).and_then(|found| {
                found.iter().try_fold(Exit::Success, |_, source| self.format(source, output))
            });
            let exit = done.unwrap_or_else(|failure| failure.tell(output));
            worst = worst.worse(exit);
        }
        worst
    }

    fn format(&self, source: &Source, output: &mut Output) -> Result<Exit, Failure> {
        let bytes = source.bytes.as_deref().unwrap_or_default();
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Err(Failure::failed(format!("`{}` is not UTF-8", source.name)));
        };
        let formatted = match format(&source.name, text, source.format) {
            Ok(formatted) => formatted,
            Err(Unformatted::Different) => {
                let message = format!(
                    "`{}` was left alone: it cannot be laid out without being read otherwise",
                    source.name
                );
                return Err(Failure::failed(message));
            }
            Err(Unformatted::Faulty(sources, found)) => {
                let options = RenderOptions { color: output.colour_on_stderr(), ..RenderOptions::default() };
                output.chatter(&render::human(&sources, &found, options));
                return Err(Failure::failed(format!("`{}` cannot be read", source.name)));
            }
        };
        let same = formatted == text;
        if self.diff || self.check {
            if self.diff && !same {
                output.print(&files::patch(&source.name, text, &formatted));
            } else if !same {
                output.print(&format!("{}\n", harmless_line(&source.name)));
            }
            return Ok(if same { Exit::Success } else { Exit::Failure });
        }
        if source.name == files::STDIN {
            output.print(&formatted);
        } else if !same {
            files::put(&source.name, formatted.as_bytes())
                .map_err(|error| Failure::write(&source.name, &error))?;
            output.note(&format!("formatted {}", source.name));
        }
        Ok(Exit::Success)
    }
}
