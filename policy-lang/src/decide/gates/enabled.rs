//! The endpoint answers at all: 404 `endpoint_disabled` otherwise.

use super::{Gate, GateOutcome, denial};
use crate::decide::Query;
use crate::policy::{ElementRef, EndpointPolicy};

const CODE: &str = "endpoint_disabled";

pub(super) fn judge<'a>(endpoint: &'a EndpointPolicy, _: &Query<'a>) -> GateOutcome<'a> {
    let rule = endpoint.enabled.rule;
    if endpoint.enabled.value {
        return GateOutcome::Pass(Some(rule));
    }
    GateOutcome::Fail(denial(Gate::Enabled, 404, CODE, ElementRef { rule, ..ElementRef::BASE }))
}

/// What `gate` says of an endpoint that the policy does not know.
pub(super) fn unknown<'a>(gate: Gate) -> GateOutcome<'a> {
    match gate {
        Gate::Enabled => GateOutcome::Fail(denial(gate, 404, CODE, ElementRef::BASE)),
        _ => GateOutcome::NotAsked,
    }
}
