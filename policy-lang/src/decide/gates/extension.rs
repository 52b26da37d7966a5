//! The name that a write makes has a permitted extension: 403 `extension_not_allowed` otherwise.

use super::{Gate, GateOutcome, denial};
use crate::decide::{Denial, Op, Query};
use crate::policy::EndpointPolicy;

pub(super) fn judge<'a>(endpoint: &'a EndpointPolicy, query: &Query<'a>) -> GateOutcome<'a> {
    let Some(rules) = &endpoint.params.extensions else { return GateOutcome::NotAsked };
    let mut asked = false;
    for written in query.paths.iter().filter(|path| path.op == Op::Write) {
        asked = true;
        if let Some(element) = rules.refuses(written.path) {
            let refusal = denial(Gate::Extension, 403, "extension_not_allowed", element);
            return GateOutcome::Fail(Denial { parameter: Some(written.role), ..refusal });
        }
    }
    if asked { GateOutcome::Pass(None) } else { GateOutcome::NotAsked }
}
