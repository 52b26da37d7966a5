//! The URL may be opened, and every address that its host is known to resolve to: 403 `url_not_allowed` otherwise.

use super::{Gate, GateOutcome, outcome};
use crate::decide::Query;
use crate::policy::EndpointPolicy;

pub(super) fn judge<'a>(endpoint: &'a EndpointPolicy, query: &Query<'a>) -> GateOutcome<'a> {
    let (Some(rules), Some(asked)) = (&endpoint.params.urls, query.url) else {
        return GateOutcome::NotAsked;
    };
    outcome(Gate::Url, "url_not_allowed", rules.refuses(asked, query.addresses))
}
