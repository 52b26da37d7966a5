//! `deny-commands-alone`: a deny-list of programs with no allow-list beside it.

use super::Context;
use crate::diag::{Code, Diagnostic};
use crate::endpoint::Key;
use crate::resolved::EndpointIx;

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for authored in context.authored_key(Key::ParamsDenyCommands) {
        let takers = context.takers(&authored.block.selector, Key::ParamsDenyCommands).into_iter();
        let alone: Vec<EndpointIx> = takers
            .filter(|endpoint| context.is_open(*endpoint))
            .filter(|endpoint| context.candidates(*endpoint, Key::ParamsAllowCommands).is_empty())
            .collect();
        if alone.is_empty() {
            continue;
        }
        let message = format!(
            "the deny-list of {} is no boundary: a copy, an interpreter or a script gets around it",
            context.names(&alone)
        );
        let finding = Diagnostic::new(Code::DenyCommandsAlone, message)
            .help("list what may run in `params.allow_commands`; a deny-list beside it still takes away");
        let finding = authored.mark(finding, authored.key_span(), "denies some of everything");
        found.push(context.affecting(finding, &authored.block.selector, &alone));
    }
    found
}
