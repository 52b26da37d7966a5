//! `compile`: writes the compiled set that a server boots from.

use super::Exit;
use super::check_config::commands::template;
use super::check_config::sources;
use super::output::Output;
use clap::Args;
use policy_lang::diag::Levels;
use policy_lang::form;
use policy_lang::render::{self, RenderOptions};
use policy_lang::stages::{Document, Inputs, compile_document};

/// Compile a policy into the set that a server boots from
///
/// The set is one JSON file, byte for byte the same for the same input on every machine. It is refused by a server of
/// another endpoint table, and `serve` takes it wherever it takes a policy. Exit status: 0 written, 1 the policy has
/// errors and nothing was written, 2 usage, 3 an input cannot be read or the set cannot be written.
#[derive(Debug, Args)]
pub(super) struct Compile {
    /// Document to compile, or `-` for standard input [default: what `serve` would load here]
    #[arg(long, value_name = "FILE")]
    policy: Option<String>,
    /// Preset to use in place of the document's
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Commands and routes that the server will be given: their ids are known, their switches become part of the set
    #[arg(long, value_name = "FILE|MODULE")]
    commands: Option<String>,
    /// File to write, or `-` for standard output
    #[arg(short, long, value_name = "OUT")]
    output: String,
}

impl Compile {
    pub(super) fn run(self) -> Exit {
        let mut output = Output::default();
        let named: Vec<String> = self.policy.into_iter().collect();
        let mut found = match sources(&named) {
            Ok(found) => found,
            Err(failure) => {
                output.complain(&failure.message);
                return failure.exit;
            }
        };
        let declared = match self.commands.as_deref().map(|name| template(name, &found)).transpose() {
            Ok(declared) => declared.unwrap_or_default(),
            Err(failure) => {
                output.complain(&failure.message);
                return failure.exit;
            }
        };
        let Some(source) = found.pop() else { return Exit::Internal };
        let text = source.bytes.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok());
        if text.is_some_and(form::is_compiled) {
            output.complain(&format!("`{}` is compiled already; `inspect` prints it", source.name));
            return Exit::Usage;
        }
        let levels = Levels::default();
        let inputs = Inputs {
            preset: self.preset.as_deref(),
            switches: &declared.switches,
            ..Inputs::new(declared.routes.catalogue(), &levels)
        };
        let document = source.bytes.as_deref();
        let document = document.map(|bytes| Document { name: &source.name, bytes, format: source.format });
        let outcome = compile_document(document, &inputs);
        let options = RenderOptions { color: output.colour_on_stderr(), ..RenderOptions::default() };
        let drawn = render::human(&outcome.sources, &outcome.diagnostics, options);
        if !drawn.is_empty() {
            output.chatter(&format!("{drawn}\n"));
        }
        let Some(resolved) = outcome.resolved() else {
            output.complain(&format!("`{}` has errors; nothing was written", source.name));
            return Exit::Failure;
        };
        let set = form::write(resolved);
        if self.output == "-" {
            output.print(&set);
            return Exit::Success;
        }
        match write(&self.output, set.as_bytes()) {
            Ok(()) => {
                output.note(&format!(
                    "wrote {} ({} bytes), revision {}",
                    self.output,
                    set.len(),
                    resolved.revision
                ));
                Exit::Success
            }
            Err(error) => {
                output.complain(&format!("cannot write `{}`: {error}", self.output));
                Exit::Unreadable
            }
        }
    }
}

/// Writes beside the file and renames, so that a server never reads half a set.
fn write(path: &str, bytes: &[u8]) -> std::io::Result<()> {
    let beside = format!("{path}.{}.tmp", std::process::id());
    let written = std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}
