//! The program may run: 403 `command_not_allowed` otherwise.

use super::{Gate, GateOutcome, outcome};
use crate::decide::Query;
use crate::policy::EndpointPolicy;

pub(super) fn judge<'a>(endpoint: &'a EndpointPolicy, query: &Query<'a>) -> GateOutcome<'a> {
    let (Some(rules), Some(asked)) = (&endpoint.params.commands, &query.command) else {
        return GateOutcome::NotAsked;
    };
    outcome(Gate::Command, "command_not_allowed", rules.refuses(asked))
}
