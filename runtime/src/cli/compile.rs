//! `compile`: writes the compiled set that a server boots from.

use super::Exit;
use super::check_config::commands::template;
use super::check_config::sources;
use super::failure::Failure;
use super::files;
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
    pub(super) fn run(self, output: &mut Output) -> Exit {
        self.compile(output).unwrap_or_else(|failure| failure.tell(output))
    }

    fn compile(&self, output: &mut Output) -> Result<Exit, Failure> {
        let named: Vec<String> = self.policy.iter().cloned().collect();
        let mut found = sources(&named)?;
        let inputs = found.iter().map(|source| source.name.as_str()).chain(self.commands.as_deref());
        if let Some(input) = files::overwrites(&self.output, inputs) {
            let message = format!("`{}` is `{input}`, which is read: name another file with -o", self.output);
            return Err(Failure::usage(message));
        }
        let declared =
            self.commands.as_deref().map(|name| template(name, &found)).transpose()?.unwrap_or_default();
        let Some(source) = found.pop() else { return Ok(Exit::Internal) };
        let text = source.bytes.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok());
        if text.is_some_and(form::is_compiled) {
            return Err(Failure::usage(format!(
                "`{}` is compiled already; `inspect` prints it",
                source.name
            )));
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
            return Err(Failure::failed(format!("`{}` has errors; nothing was written", source.name)));
        };
        let set = form::write(resolved);
        if self.output == "-" {
            output.print(&set);
            return Ok(Exit::Success);
        }
        files::put(&self.output, set.as_bytes()).map_err(|error| Failure::write(&self.output, &error))?;
        let revision = &resolved.revision;
        output.note(&format!("wrote {} ({} bytes), revision {revision}", self.output, set.len()));
        Ok(Exit::Success)
    }
}
