//! `token-with-all-scopes`: a token holds `*`.

use super::Context;
use crate::diag::{Code, Diagnostic};

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let tokens = context.tokens().unwrap_or_default().iter();
    let all = tokens.filter_map(|token| Some((token, token.scopes.iter().find(|scope| scope.value == "*")?)));
    all.map(|(token, scope)| {
        let message =
            format!("token `{}` holds every scope, those that later versions add included", token.id.value);
        Diagnostic::new(Code::TokenWithAllScopes, message)
            .help(
                "list the scopes that its holder needs, such as `files:read` or the bundle `sandboxes:exec`",
            )
            .at_saying(scope.span, "holds everything")
    })
    .collect()
}
