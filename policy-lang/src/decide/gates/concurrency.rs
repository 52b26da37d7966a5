//! Calls at the same time per principal (429 `too_many_concurrent`): a count that only the running server has.

use super::GateOutcome;
use crate::decide::Query;
use crate::policy::EndpointPolicy;

pub(super) fn judge<'a>(endpoint: &'a EndpointPolicy, _: &Query<'a>) -> GateOutcome<'a> {
    let limit = endpoint.limits.max_concurrency;
    limit.map_or(GateOutcome::NotAsked, |limit| GateOutcome::AtCallTime(limit.rule, limit.value))
}
