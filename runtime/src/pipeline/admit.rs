//! Step 4: does the policy let this principal call this endpoint now. Yields a [`Permit`], which nothing else can make.

use super::route::Match;
use crate::app::PolicyState;
use crate::auth::Principal;
use crate::engine::Slot;
use crate::error::{ApiError, ErrorCode};
use policy_lang::decide::{Decision, Query, decide};
use policy_lang::endpoint::AuditLevel;
use policy_lang::policy::{EndpointPolicy, Ruled};
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

    /// To which endpoint.
    #[must_use]
    pub fn endpoint(&self) -> EndpointIx {
        self.endpoint
    }

    /// What the policy says of the endpoint: limits, path rules, parameters. Present for every admitted call.
    #[must_use]
    pub fn rules(&self) -> Option<&EndpointPolicy> {
        self.state.policy.endpoint(self.endpoint)
    }

    /// A query about this endpoint, to be filled with what the call names: paths, a program, a URL.
    #[must_use]
    pub fn query(&self) -> Query<'static> {
        Query::of(self.endpoint)
    }

    /// Asks the policy about what only the handler knows, for this endpoint or for another that the call stands for.
    ///
    /// # Errors
    /// The refusal of the first gate that refuses.
    pub fn check<'a>(&'a self, query: &Query<'a>) -> Result<(), ApiError> {
        match decide(&self.state.policy, query) {
            Decision::Allow => Ok(()),
            Decision::Deny(denial) => Err(ApiError::denied(&self.state.policy, query.endpoint, &denial)),
        }
    }

    /// What is written to the audit log for this endpoint.
    pub(crate) fn audit(&self) -> AuditLevel {
        self.rules().map_or(AuditLevel::All, |rules| rules.audit.value)
    }

    /// The name of the rule that lets this endpoint answer.
    pub(crate) fn rule(&self) -> &str {
        self.rules().map_or("", |rules| self.state.policy.rule_name(rules.enabled.rule))
    }
}

/// Admits a call. The slot that it takes is given back when dropped.
///
/// # Errors
/// 404 `endpoint_disabled`, 403 `missing_scope`, 429 `rate_limited` or `too_many_concurrent`.
pub(super) fn admit(
    state: Arc<PolicyState>,
    principal: Arc<Principal>,
    matched: &Match,
) -> Result<(Permit, Slot), ApiError> {
    let endpoint = matched.endpoint();
    let permit = Permit { state, principal, endpoint };
    let command = matched.param("name").transpose()?;
    let mut query = permit.query();
    query.scopes = matched.declared().auth_required.then_some(&permit.principal.scopes);
    query.scope_param = command.as_deref();
    permit.check(&query)?;
    let slot = count(&permit)?;
    Ok((permit, slot))
}

/// Rate, then concurrency: a call that is one too many at once has been counted as a call.
fn count(permit: &Permit) -> Result<Slot, ApiError> {
    let (Some(rules), Some(cell)) =
        (permit.rules(), permit.state.engine.cell(permit.principal.index, usize::from(permit.endpoint.0)))
    else {
        return Err(ApiError::internal("The endpoint is unknown to the policy"));
    };
    let too_many = |code, message: &'static str, limit: Ruled<u64>, wait| {
        Err(ApiError::new(code, message)
            .with("endpoint", permit.state.policy.name(permit.endpoint).unwrap_or_default())
            .with("limit", limit.value)
            .rule(permit.state.policy.rule_name(limit.rule))
            .retry_after(wait))
    };
    if let Some(limit) = rules.limits.rate_per_minute
        && let Err(wait) = cell.rate(limit.value).check()
    {
        return too_many(ErrorCode::RateLimited, "Too many calls per minute", limit, wait);
    }
    match rules.limits.max_concurrency {
        None => Ok(Slot::unlimited()),
        Some(limit) => cell.slots.take(limit.value).map_or_else(
            || too_many(ErrorCode::TooManyConcurrent, "Too many calls at the same time", limit, 1),
            Ok,
        ),
    }
}
