//! Every path may be touched in the way it is asked: 403 `path_denied`, `path_not_allowed` or `read_only` otherwise. The
//! first path that is refused is named by its parameter.

use super::{Gate, GateOutcome, denial};
use crate::decide::{Denial, Query};
use crate::paths::PathVerdict;
use crate::policy::{ElementRef, EndpointPolicy};

pub(super) fn judge<'a>(endpoint: &'a EndpointPolicy, query: &Query<'a>) -> GateOutcome<'a> {
    if query.paths.is_empty() {
        return GateOutcome::NotAsked;
    }
    for asked in query.paths {
        // An endpoint without path rules touches no path.
        let none = PathVerdict::NotAllowed(ElementRef::BASE);
        let verdict = endpoint.paths.as_ref().map_or(none, |rules| rules.judge(asked.path, asked.op));
        if let (Some(code), Some(element)) = (verdict.code(), verdict.element()) {
            return GateOutcome::Fail(Denial {
                parameter: Some(asked.role),
                ..denial(Gate::Path, 403, code, element)
            });
        }
    }
    GateOutcome::Pass(endpoint.paths.as_ref().map(|rules| rules.allow_rule()))
}
