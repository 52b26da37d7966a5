//! `token-env-unset`: the variable that holds a token's secret is not set where the policy is checked.

use super::Context;
use crate::diag::{Code, Diagnostic};
use crate::layer::TokenSecret;
use crate::secret;

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let Some(is_set) = context.facts.variable_is_set else { return Vec::new() };
    let unset = context.tokens().unwrap_or_default().iter().filter_map(|token| match &token.secret {
        TokenSecret::Env(name) if !is_set(&name.value) => Some((token, name)),
        _ => None,
    });
    unset
        .map(|(token, name)| {
            let message = format!(
                "`{}`, which holds the secret of token `{}`, is not set here",
                secret::variable(&name.value),
                token.id.value
            );
            Diagnostic::new(Code::TokenEnvUnset, message)
                .help("set it in the environment of the server: it does not start without")
                .at_saying(name.span, "not set")
        })
        .collect()
}
