//! Calls per minute and principal (429 `rate_limited`): a count that only the running server has.

use super::GateOutcome;
use crate::decide::Query;
use crate::policy::EndpointPolicy;

pub(super) fn judge<'a>(endpoint: &'a EndpointPolicy, _: &Query<'a>) -> GateOutcome<'a> {
    let limit = endpoint.limits.rate_per_minute;
    limit.map_or(GateOutcome::NotAsked, |limit| GateOutcome::AtCallTime(limit.rule, limit.value))
}
