//! Step 3: who calls. Doors that ask for no token, and servers without any, have `anonymous`.

use crate::app::{App, PolicyState};
use crate::auth::{Presented, Principal, presented};
use crate::error::{ApiError, ErrorCode};
use axum::http::HeaderMap;
use policy_lang::endpoint::EndpointDecl;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

/// Finds the principal.
///
/// # Errors
/// 400 `ambiguous_credentials`, 401 `unauthorized`, 429 `auth_rate_limited` once a peer has guessed too often.
pub(super) fn principal(
    app: &App,
    state: &PolicyState,
    declared: &EndpointDecl,
    headers: &HeaderMap,
    peer: IpAddr,
) -> Result<Arc<Principal>, ApiError> {
    if !declared.auth_required || state.tokens.is_open() {
        return Ok(Arc::clone(state.tokens.anonymous()));
    }
    let token = match presented(headers) {
        Presented::Nothing => return Err(unauthorized()),
        Presented::Ambiguous => {
            let message = "The request carries more than one credential";
            return Err(ApiError::new(ErrorCode::AmbiguousCredentials, message));
        }
        Presented::Malformed => None,
        Presented::Token(token) => Some(token),
    };
    let now = Instant::now();
    if let Some(wait) = app.failed_logins.wait(peer, now) {
        let message = "Too many failed logins from this address";
        return Err(ApiError::new(ErrorCode::AuthRateLimited, message).retry_after(wait.as_secs() + 1));
    }
    match token.and_then(|token| state.tokens.verify(&token)) {
        Some(principal) => Ok(Arc::clone(principal)),
        None => {
            app.failed_logins.failed(peer, now);
            Err(unauthorized())
        }
    }
}

/// The body is exactly the source document's, plus `code`.
fn unauthorized() -> ApiError {
    ApiError::new(ErrorCode::Unauthorized, "unauthorized")
}
