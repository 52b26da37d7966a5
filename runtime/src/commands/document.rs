//! The declarative file of commands: YAML or JSON, read with the parser of policies, so that whatever is wrong has a
//! place.
//!
//! ```yaml
//! commands:
//!   hello:
//!     description: Say hello.
//!     args:
//!       name: {type: string, default: World, description: Whom to greet}
//!     argv: [echo, "Hello, {name}!"]
//!   disk_usage:
//!     args: {depth: integer}               # short for {type: integer}: required
//!     scopes: [system:read]
//!     script: |
//!       du --max-depth="$ARG_DEPTH" .
//!     limits: {timeout_seconds: 30s, max_output_bytes: 1MiB}
//! ```
//!
//! A command has the keys `description`, `args`, `scopes`, `hidden`, `argv` or `script` (with `interpreter`: `sh`, `bash`,
//! `python` or `node`), `output` (`text` or `json`) and `limits` (`timeout_seconds`, `max_output_bytes`). An argument has
//! `type`, `default`, `required` and `description`. In `argv` a value stands in place of `{name}` and never becomes a
//! second word; a word whose argument has no value is left out. A script finds its values in `$ARG_NAME`.

mod action;
mod args;
mod command;
mod reader;

use super::Registry;
use policy_lang::diag::{Code, Diagnostic, Sink};
use policy_lang::parse::{self, Format, Node};
use policy_lang::source::{SourceId, SourceMap};
use reader::Reader;

/// What a file yielded.
#[derive(Debug)]
pub struct Document {
    /// The text, for whoever draws the findings.
    pub sources: SourceMap,
    /// Which text it is.
    pub source: SourceId,
    /// What was found, by place. The commands are complete only where nothing of it is an error.
    pub diagnostics: Vec<Diagnostic>,
    /// The commands, as far as they could be read.
    pub registry: Registry,
}

/// Reads a file. Never stops at the first mistake.
#[must_use]
pub fn read(name: &str, bytes: Vec<u8>) -> Document {
    let mut sources = SourceMap::default();
    let source = sources.add_bytes(name, bytes);
    let mut sink = Sink::default();
    let mut registry = Registry::default();
    let (root, found) = parse::parse(&sources, source, Format::Auto);
    sink.extend(found);
    match root {
        Some(root) => {
            let mut reader = Reader::new(&sources);
            document(&mut reader, &root, &mut registry);
            sink.extend(reader.finish());
        }
        None if sink.is_empty() => {
            sink.push(Diagnostic::new(Code::WrongType, "the file declares no commands").help(SHAPE));
        }
        None => {}
    }
    Document { diagnostics: sink.finish(), source, sources, registry }
}

const SHAPE: &str = "write `commands:` with a mapping of names to commands";

fn document(reader: &mut Reader<'_>, root: &Node<'_>, registry: &mut Registry) {
    let Some(entries) = reader.mapping("the file of commands", root) else { return };
    let Some(commands) = entries.iter().find(|entry| entry.key == "commands") else {
        reader.foreign("the file of commands", entries, &["commands"]);
        let missing = Diagnostic::new(Code::WrongType, "the file declares no commands").at(root.span);
        return reader.emit(missing.help(SHAPE));
    };
    reader.foreign("the file of commands", entries, &["commands"]);
    let Some(commands) = reader.mapping("`commands`", &commands.value) else { return };
    for entry in commands {
        // What is wrong with a name has been said, and the parser lets none occur twice.
        let _ = command::read(reader, entry).map(|command| registry.register(command));
    }
}
