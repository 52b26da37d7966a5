//! `exec-without-auth`: the document opens an endpoint that runs programs, and asks nobody for a token.

use super::Context;
use crate::diag::{Code, Diagnostic};
use crate::endpoint::{EndpointId, Key};
use crate::resolved::{EndpointIx, ResolvedValue};

/// The endpoints through which a caller runs what it likes.
const RUNNERS: &[EndpointId] = &[
    EndpointId::Shell,
    EndpointId::ShellStream,
    EndpointId::ProcessStart,
    EndpointId::PtyCreate,
    EndpointId::PtyConnect,
    EndpointId::CodeRun,
    EndpointId::AgentsSessionsCreate,
    EndpointId::AgentsTurnsStart,
    EndpointId::AgentsRun,
];

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    if context.tokens().is_some() || context.facts.server_token {
        return Vec::new();
    }
    let mut open: Vec<EndpointIx> = Vec::new();
    let mut first = None;
    for authored in context.authored_key(Key::Enabled) {
        if authored.said.value != ResolvedValue::Bool(true) {
            continue;
        }
        let opened = context.governed(&authored.block.selector).into_iter();
        let opened = opened.filter(|endpoint| {
            runs(context, *endpoint) && context.wins(authored.at, *endpoint, Key::Enabled)
        });
        let before = open.len();
        open.extend(opened);
        if open.len() > before && first.is_none() {
            first = Some(authored);
        }
    }
    if open.is_empty() {
        return Vec::new();
    }
    let verb = if open.len() == 1 { "runs" } else { "run" };
    let names = context.names(&open);
    let message = format!("{names} {verb} programs for whoever reaches the port: no token is configured");
    let finding = Diagnostic::new(Code::ExecWithoutAuth, message)
        .help("add `auth.tokens`, or make sure that the server starts with `ABX_SERVER_TOKEN` set");
    let finding = match first {
        Some(authored) => authored.mark(finding, authored.span(), "opens it"),
        None => finding,
    };
    vec![finding.affects(context.ids(&open))]
}

/// Whether the endpoint runs what a caller gives it.
pub(super) fn runs(context: &Context<'_>, endpoint: EndpointIx) -> bool {
    context.catalogue.decl(endpoint).is_some_and(|decl| RUNNERS.contains(&decl.id))
}
