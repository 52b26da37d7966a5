//! `scope-held-by-no-token`: a rule of the document asks for a scope, and none of its tokens holds it.

use super::Context;
use crate::diag::{Code, Diagnostic};
use crate::endpoint::Key;
use crate::layer::Value;
use crate::scope::{ScopeNeed, ScopeSet};
use std::borrow::Cow;

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let Some(tokens) = context.tokens().filter(|tokens| !tokens.is_empty()) else { return Vec::new() };
    if context.facts.server_token {
        // Its holder has every scope.
        return Vec::new();
    }
    let holders: Vec<ScopeSet> = tokens
        .iter()
        .filter_map(|token| ScopeSet::parse(token.scopes.iter().map(|scope| &*scope.value)).ok())
        .collect();
    let mut found = Vec::new();
    for authored in context.authored_key(Key::Scopes) {
        let Value::List(asked) = &authored.written.value else { continue };
        let governed = context.governed(&authored.block.selector);
        let rules =
            |endpoint: &_| context.is_open(*endpoint) && context.wins(authored.at, *endpoint, Key::Scopes);
        let endpoints: Vec<_> = governed.into_iter().filter(rules).collect();
        let lacking = |scope: &str| {
            let Ok(need) = ScopeNeed::parse([scope]) else { return false };
            holders.iter().all(|holder| need.missing(holder, None).is_some())
        };
        let Some(scope) = asked.iter().find(|scope| lacking(&scope.value)).filter(|_| !endpoints.is_empty())
        else {
            continue;
        };
        let names = context.names(&endpoints);
        let verb = if endpoints.len() == 1 { "asks" } else { "ask" };
        let message = format!("{names} {verb} for `{}`, which no token holds", scope.value);
        let nearest: Cow<'_, str> = match tokens {
            [only] => format!(
                "give the token `{}` the scope, ask for another, or close the endpoint",
                only.id.value
            )
            .into(),
            _ => "give one of the tokens the scope, ask for another, or close the endpoint".into(),
        };
        let finding = Diagnostic::new(Code::ScopeHeldByNoToken, message).help(nearest);
        let finding = authored.mark(finding, Some(scope.span), "held by nobody");
        found.push(context.affecting(finding, &authored.block.selector, &endpoints));
    }
    found
}
