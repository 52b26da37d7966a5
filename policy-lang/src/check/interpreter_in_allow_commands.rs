//! `interpreter-in-allow-commands`: an allow-list names a program that runs other programs.

use super::Context;
use super::programs::runs_anything;
use crate::diag::{Code, Diagnostic};
use crate::endpoint::Key;
use crate::layer::Value;

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for authored in context.authored_key(Key::ParamsAllowCommands) {
        let Value::List(entries) = &authored.written.value else { continue };
        let mut hits = entries.iter().filter_map(|entry| Some((entry, runs_anything(&entry.value)?)));
        let Some((first, why)) = hits.next() else { continue };
        let rest: Vec<_> = hits.collect();
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        let message = format!("allowing `{}`{more} allows every program: {why}", first.value);
        let finding = Diagnostic::new(Code::InterpreterInAllowCommands, message)
            .help("list the programs that are needed by themselves; where this one is needed, the list is no boundary");
        let finding = authored.mark(finding, Some(first.span), "runs anything");
        let finding =
            rest.into_iter().fold(finding, |finding, (entry, why)| finding.related(entry.span, why));
        let takers = context.takers(&authored.block.selector, Key::ParamsAllowCommands);
        found.push(context.affecting(finding, &authored.block.selector, &takers));
    }
    found
}
