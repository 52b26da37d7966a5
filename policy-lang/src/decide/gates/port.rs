//! The loopback port may be reached: 403 `port_not_allowed` otherwise.

use super::{Gate, GateOutcome, outcome};
use crate::decide::Query;
use crate::policy::EndpointPolicy;

pub(super) fn judge<'a>(endpoint: &'a EndpointPolicy, query: &Query<'a>) -> GateOutcome<'a> {
    let (Some(rules), Some(asked)) = (&endpoint.params.ports, query.port) else {
        return GateOutcome::NotAsked;
    };
    outcome(Gate::Port, "port_not_allowed", rules.refuses(asked))
}
