//! `schema`: JSON Schemas of what this program reads and writes.

mod compiled;
mod diff;
mod report;

use super::Exit;
use super::output::Output;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

/// Print the JSON Schema of the policy document, for editors, or of another document
///
/// The same texts stand in `schemas/`.
#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Which document
    #[arg(value_enum, default_value_t = Which::Policy)]
    which: Which,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// The policy document, as an author writes it
    Policy,
    /// The compiled set, as `compile` writes it
    Compiled,
    /// The report, as `check-config --json` prints it
    CheckReport,
    /// The report, as `diff --json` prints it
    DiffReport,
}

impl Schema {
    pub(super) fn run(self, output: &mut Output) -> Exit {
        let text = match self.which {
            Which::Policy => policy_lang::schema::text(),
            Which::Compiled => print(&compiled::schema()),
            Which::CheckReport => print(&report::schema()),
            Which::DiffReport => print(&diff::schema()),
        };
        output.print(&text);
        Exit::Success
    }
}

/// An object whose members are all required and no others are there.
fn closed(properties: &Value) -> Value {
    let required: Vec<&String> =
        properties.as_object().map(|members| members.keys().collect()).unwrap_or_default();
    json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
}

fn print(schema: &Value) -> String {
    let mut text = serde_json::to_string_pretty(schema).unwrap_or_default();
    text.push('\n');
    text
}
