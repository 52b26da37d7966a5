//! The signal is on the list: 403 `signal_not_allowed` otherwise.

use super::{Gate, GateOutcome, outcome};
use crate::decide::Query;
use crate::policy::EndpointPolicy;

pub(super) fn judge<'a>(endpoint: &'a EndpointPolicy, query: &Query<'a>) -> GateOutcome<'a> {
    let (Some(rules), Some(asked)) = (&endpoint.params.signals, query.signal) else {
        return GateOutcome::NotAsked;
    };
    outcome(Gate::Signal, "signal_not_allowed", rules.refuses(asked))
}
