//! `paths-do-not-bind-commands`: path rules beside an endpoint that runs any program. A program reads and writes what the
//! operating system lets it, whatever the rules say of paths.

use super::Context;
use super::exec_without_auth::runs;
use crate::diag::{Code, Diagnostic};
use crate::endpoint::{Key, KeySet};
use crate::resolved::EndpointIx;

const PATHS: KeySet = KeySet::of(&[Key::PathsAllow, Key::PathsDeny, Key::PathsReadOnly]);

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let restricted = |endpoint: EndpointIx| context.is_open(endpoint) && !runs(context, endpoint);
    let Some(rule) = context.authored().find(|authored| {
        let key = authored.said.key;
        PATHS.contains(key) && context.takers(&authored.block.selector, key).into_iter().any(restricted)
    }) else {
        return Vec::new();
    };
    let open: Vec<EndpointIx> =
        context.catalogue.iter().filter(|endpoint| unbound(context, *endpoint)).collect();
    if open.is_empty() {
        return Vec::new();
    }
    let verb = if open.len() == 1 { "runs" } else { "run" };
    let message = format!(
        "path rules do not bind what {} {verb}: a program reaches every file that the system lets it",
        context.names(&open)
    );
    let finding = Diagnostic::new(Code::PathsDoNotBindCommands, message)
        .help("close what runs programs, or list in `params.allow_commands` only programs that touch no other files");
    vec![
        rule.mark(finding, rule.key_span(), "binds endpoints that take paths, and nothing else")
            .affects(context.ids(&open)),
    ]
}

/// Open, and free to run anything.
fn unbound(context: &Context<'_>, endpoint: EndpointIx) -> bool {
    let listed = !context.candidates(endpoint, Key::ParamsAllowCommands).is_empty();
    // What does not start a program by itself (listing terminals, the tunnel) takes no paths for a working directory.
    let starts = context.catalogue.accepts(endpoint).contains(Key::PathsAllow);
    context.is_open(endpoint) && runs(context, endpoint) && starts && !listed
}
