//! The file, answer or transfer is not larger than `max_bytes`: 413 otherwise, `archive_too_large` for an archive.

use super::{Gate, GateOutcome, denial};
use crate::decide::{Denial, Query};
use crate::endpoint::EndpointId;
use crate::policy::{ElementRef, EndpointPolicy, Ruled};

pub(super) fn judge<'a>(endpoint: &'a EndpointPolicy, query: &Query<'a>) -> GateOutcome<'a> {
    let archive = usize::from(query.endpoint.0) == EndpointId::FilesArchive.index();
    let code = if archive { "archive_too_large" } else { "file_too_large" };
    within(Gate::Bytes, code, query.bytes, endpoint.limits.max_bytes)
}

/// Judges a size against its limit.
pub(super) fn within<'a>(
    gate: Gate,
    code: &'static str,
    size: Option<u64>,
    limit: Option<Ruled<u64>>,
) -> GateOutcome<'a> {
    let (Some(size), Some(limit)) = (size, limit) else { return GateOutcome::NotAsked };
    if size <= limit.value {
        return GateOutcome::Pass(Some(limit.rule));
    }
    let element = ElementRef { rule: limit.rule, ..ElementRef::BASE };
    GateOutcome::Fail(Denial { limit: Some(limit.value), ..denial(gate, 413, code, element) })
}
