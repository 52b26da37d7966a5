//! `token-calls-nothing`: whatever the token's scopes reach is closed.

use super::Context;
use crate::diag::{Code, Diagnostic};
use crate::endpoint::{Key, Scope};
use crate::explain::keys::base;
use crate::resolved::{EndpointIx, ResolvedValue};
use crate::scope::{ScopeNeed, ScopeSet};

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let Some(tokens) = context.tokens().filter(|tokens| !tokens.is_empty()) else { return Vec::new() };
    let nobody = ScopeSet::default();
    // What every caller may do says nothing of a token.
    let open: Vec<ScopeNeed> = context
        .catalogue
        .iter()
        .filter(|endpoint| !context.catalogue.is_core(*endpoint) && context.is_open(*endpoint))
        .filter_map(|endpoint| need(context, endpoint))
        .filter(|need| need.missing(&nobody, None).is_some())
        .collect();
    let mut found = Vec::new();
    for token in tokens {
        let names = || token.scopes.iter().map(|scope| &*scope.value);
        let Ok(holder) = ScopeSet::parse(names()) else { continue };
        let commands: Vec<&str> = names().filter_map(|name| name.strip_prefix("commands:run:")).collect();
        let calls = |need: &ScopeNeed| {
            need.missing(&holder, None).is_none()
                || commands.iter().any(|command| need.missing(&holder, Some(command)).is_none())
        };
        if open.iter().any(calls) {
            continue;
        }
        let message = format!("token `{}` can call nothing that not everybody may call", token.id.value);
        let help = match names().collect::<Vec<_>>().as_slice() {
            [only] if Scope::from_name(only) == Some(Scope::CoreRead) => {
                "`core:read` is held by everyone: give the token what its holder needs, or remove it"
                    .to_owned()
            }
            _ => {
                "everything that its scopes reach is closed: open what its holder needs, or remove the token"
                    .to_owned()
            }
        };
        found.push(
            Diagnostic::new(Code::TokenCallsNothing, message)
                .help(help)
                .at_saying(token.id.span, "reaches nothing"),
        );
    }
    found
}

fn need(context: &Context<'_>, endpoint: EndpointIx) -> Option<ScopeNeed> {
    let owned;
    let value = match context.resolved().winner(endpoint, Key::Scopes) {
        Some(said) => &said.value,
        None => {
            owned = base(context.catalogue, context.base_dir, endpoint, Key::Scopes)?.0;
            &owned
        }
    };
    match value {
        ResolvedValue::List(list) => ScopeNeed::parse(list.values()).ok(),
        _ => None,
    }
}
