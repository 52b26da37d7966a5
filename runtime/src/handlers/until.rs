//! When the sockets of a call end, whatever they carry: the rules, the server's stop, and reloads of the policy.

use std::sync::Arc;
use std::time::Duration;

use super::launch;
use crate::app::{App, PolicyState};
use crate::auth::Principal;
use crate::endpoint::Call;
use crate::websocket::Until;

/// How long a socket may be open where the rules say nothing, in seconds.
const LONGEST: u64 = 86400;

/// What ends the socket of this call.
pub(super) fn until(call: &Call) -> Until {
    let longest = launch::limit(call, |limits| limits.max_duration_seconds, LONGEST);
    let (app, permit) = (Arc::clone(call.app()), call.permit());
    let withdrawn = withdrawn(Arc::clone(&app), Arc::clone(permit.state()), Arc::clone(permit.principal()));
    Until::new(app.stopping.clone(), Duration::from_secs(longest), withdrawn)
}

/// Waits until a policy is in force that does not know the token of this principal.
async fn withdrawn(app: Arc<App>, admitted: Arc<PolicyState>, principal: Arc<Principal>) {
    let mut reloads = app.reloads();
    while app.policy().tokens.still_know(&admitted.tokens, &principal) {
        if reloads.changed().await.is_err() {
            return;
        }
    }
}
