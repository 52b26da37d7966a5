//! The caller holds every scope that the endpoint asks: 403 `missing_scope` otherwise, naming the first that lacks.

use super::{Gate, GateOutcome, denial};
use crate::decide::{Denial, Query};
use crate::policy::{ElementRef, EndpointPolicy};

pub(super) fn judge<'a>(endpoint: &'a EndpointPolicy, query: &Query<'a>) -> GateOutcome<'a> {
    let Some(holder) = query.scopes else { return GateOutcome::NotAsked };
    let need = &endpoint.scopes;
    let Some(scope) = need.value.missing(holder, query.scope_param) else {
        return GateOutcome::Pass(Some(need.rule));
    };
    let element = ElementRef { rule: need.rule, ..ElementRef::BASE };
    GateOutcome::Fail(Denial { scope: Some(scope), ..denial(Gate::Scopes, 403, "missing_scope", element) })
}
