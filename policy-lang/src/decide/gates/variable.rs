//! Every variable may be used in the way it is asked: 403 `variable_not_allowed` otherwise, naming it.

use super::{Gate, GateOutcome, denial};
use crate::decide::{Denial, Query, VariableUse};
use crate::matchers::variable;
use crate::policy::{ElementRef, EndpointPolicy};

pub(super) fn judge<'a>(endpoint: &'a EndpointPolicy, query: &Query<'a>) -> GateOutcome<'a> {
    if query.variables.is_empty() {
        return GateOutcome::NotAsked;
    }
    for asked in query.variables {
        let rules = match asked.usage {
            VariableUse::Set | VariableUse::Show => &endpoint.params.variables,
            VariableUse::Carry => &endpoint.params.env,
        };
        let base = variable::never(asked.name, asked.usage).then_some(ElementRef::BASE);
        if let Some(element) = base.or_else(|| rules.as_ref()?.refuses(asked.name)) {
            let refusal = denial(Gate::Variable, 403, "variable_not_allowed", element);
            return GateOutcome::Fail(Denial { parameter: Some(asked.name), ..refusal });
        }
    }
    GateOutcome::Pass(None)
}
