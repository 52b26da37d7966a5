//! The request body is not larger than `max_request_bytes`: 413 `request_too_large` otherwise.

use super::{Gate, GateOutcome, bytes};
use crate::decide::Query;
use crate::policy::EndpointPolicy;

pub(super) fn judge<'a>(endpoint: &'a EndpointPolicy, query: &Query<'a>) -> GateOutcome<'a> {
    bytes::within(
        Gate::RequestBytes,
        "request_too_large",
        query.request_bytes,
        endpoint.limits.max_request_bytes,
    )
}
