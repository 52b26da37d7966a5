//! `scopes-weakened`: a rule's `scopes` leave out a scope that the catalogue asks for.

use super::Context;
use crate::diag::{Code, Diagnostic};
use crate::endpoint::Key;
use crate::layer::Value;
use crate::resolved::EndpointIx;
use std::collections::BTreeSet;

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for authored in context.authored_key(Key::Scopes) {
        let Value::List(asked) = &authored.written.value else { continue };
        let asked: Vec<&str> = asked.iter().map(|scope| &*scope.value).collect();
        let mut missing = BTreeSet::new();
        let takers = context.takers(&authored.block.selector, Key::Scopes);
        let weakened: Vec<EndpointIx> = takers
            .into_iter()
            .filter(|endpoint| context.wins(authored.at, *endpoint, Key::Scopes))
            .filter(|endpoint| {
                let declared = context.catalogue.decl(*endpoint).map_or(&[][..], |decl| decl.scopes);
                let before = missing.len();
                let lost: Vec<&str> =
                    declared.iter().copied().filter(|scope| !implied(scope, &asked)).collect();
                missing.extend(lost.iter().copied());
                !lost.is_empty() || missing.len() > before
            })
            .collect();
        if weakened.is_empty() {
            continue;
        }
        let lost = missing.iter().map(|scope| format!("`{scope}`")).collect::<Vec<_>>().join(", ");
        let verb = if weakened.len() == 1 { "asks" } else { "ask" };
        let message = format!("{} no longer {verb} for {lost}", context.names(&weakened));
        let finding = Diagnostic::new(Code::ScopesWeakened, message)
            .help(format!("a rule's list replaces that of the catalogue: add {lost} to keep what it asks"));
        let finding = authored.mark(finding, authored.span(), "asks less than the catalogue");
        found.push(context.affecting(finding, &authored.block.selector, &weakened));
    }
    found
}

/// Whether whoever holds all of `asked` holds `scope` too.
fn implied(scope: &str, asked: &[&str]) -> bool {
    let command = scope.starts_with("commands:run:");
    scope == "core:read"
        || asked.iter().any(|held| *held == scope || *held == "*" || (command && *held == "commands:run"))
}
