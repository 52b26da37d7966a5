//! The language of the snippet is on the list: 403 `language_not_allowed` otherwise.

use super::{Gate, GateOutcome, outcome};
use crate::decide::Query;
use crate::policy::EndpointPolicy;

pub(super) fn judge<'a>(endpoint: &'a EndpointPolicy, query: &Query<'a>) -> GateOutcome<'a> {
    let (Some(rules), Some(asked)) = (&endpoint.params.languages, query.language) else {
        return GateOutcome::NotAsked;
    };
    outcome(Gate::Language, "language_not_allowed", rules.refuses(asked))
}
