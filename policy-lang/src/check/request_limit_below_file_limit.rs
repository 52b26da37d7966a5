//! `request-limit-below-file-limit`: a body limit that stops a file of the size that the file limit allows.

use super::Context;
use super::context::{Authored, beside};
use crate::diag::{Code, Diagnostic};
use crate::endpoint::{BodyKind, Key};
use crate::resolved::EndpointIx;
use std::collections::HashSet;

/// What the JSON around the content takes: the path and the member names.
const ENVELOPE: u64 = 1024;

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut told = HashSet::new();
    let mut found = Vec::new();
    for authored in context.authored() {
        let key = authored.said.key;
        if !matches!(key, Key::LimitsMaxBytes | Key::LimitsMaxRequestBytes) {
            continue;
        }
        let takers = context.takers(&authored.block.selector, key).into_iter();
        let stopped: Vec<EndpointIx> = takers
            .filter(|endpoint| context.wins(authored.at, *endpoint, key) && is_stopped(context, *endpoint))
            .filter(|endpoint| told.insert(*endpoint))
            .collect();
        if let Some(first) = stopped.first() {
            found.push(finding(context, &authored, *first, &stopped));
        }
    }
    found
}

/// The file limit as bytes of a JSON body in base64.
fn needed(file: u64) -> u64 {
    file.div_ceil(3).saturating_mul(4).saturating_add(ENVELOPE)
}

fn is_stopped(context: &Context<'_>, endpoint: EndpointIx) -> bool {
    let Some(decl) = context.catalogue.decl(endpoint) else { return false };
    let writes = decl.accepts.contains(Key::ParamsOverwrite);
    let base64 = decl.doors.first().is_some_and(|door| door.body == BodyKind::Json);
    let limits =
        (context.number(endpoint, Key::LimitsMaxBytes), context.number(endpoint, Key::LimitsMaxRequestBytes));
    writes && base64 && matches!(limits, (Some(file), Some(body)) if body < needed(file))
}

fn finding(
    context: &Context<'_>,
    authored: &Authored<'_>,
    first: EndpointIx,
    stopped: &[EndpointIx],
) -> Diagnostic {
    let file = context.number(first, Key::LimitsMaxBytes).unwrap_or_default();
    let body = context.number(first, Key::LimitsMaxRequestBytes).unwrap_or_default();
    let name = context.catalogue.name(first);
    let message =
        format!("`{name}` takes bodies of {body} bytes, too few for a file of {file} bytes in base64");
    let finding = Diagnostic::new(Code::RequestLimitBelowFileLimit, message).help(format!(
        "set `limits.max_request_bytes` to at least {}, or lower `limits.max_bytes`",
        needed(file)
    ));
    let other = match authored.said.key {
        Key::LimitsMaxBytes => Key::LimitsMaxRequestBytes,
        _ => Key::LimitsMaxBytes,
    };
    let other =
        context.candidates(first, other).first().and_then(|at| context.merged.written(*at)?.value_span);
    let finding = beside(
        authored.mark(finding, authored.span(), "the two limits do not fit"),
        other,
        "the other limit",
    );
    context.affecting(finding, &authored.block.selector, stopped)
}
