//! The shell that the call names is on the list: 403 `shell_not_allowed` otherwise.

use super::{Gate, GateOutcome, outcome};
use crate::decide::Query;
use crate::policy::EndpointPolicy;

pub(super) fn judge<'a>(endpoint: &'a EndpointPolicy, query: &Query<'a>) -> GateOutcome<'a> {
    let (Some(rules), Some(asked)) = (&endpoint.params.shells, query.shell) else {
        return GateOutcome::NotAsked;
    };
    outcome(Gate::Shell, "shell_not_allowed", rules.refuses(asked))
}
