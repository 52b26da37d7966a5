//! `half-open-pair`: one of two endpoints is open that are of no use without each other.

use super::Context;
use super::context::place;
use crate::diag::{Code, Diagnostic};
use crate::endpoint::{EndpointId, Key};
use crate::layer::LayerKind;
use crate::resolved::EndpointIx;

/// What is open, what is closed, and what follows.
const PAIRS: &[(EndpointId, EndpointId, &str)] = &[
    (EndpointId::PtyCreate, EndpointId::PtyConnect, "nobody can attach to a session"),
    (EndpointId::PtyConnect, EndpointId::PtyCreate, "no session can come about"),
    (EndpointId::ProcessStart, EndpointId::ProcessSignal, "what was started cannot be stopped"),
    (EndpointId::BrowserScreenshot, EndpointId::BrowserNavigate, "there is no page to show"),
    (EndpointId::AgentsSessionsCreate, EndpointId::AgentsTurnsStart, "a session cannot be prompted"),
    (EndpointId::AgentsTurnsStart, EndpointId::AgentsSessionsCreate, "there is no session to prompt"),
];

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    PAIRS
        .iter()
        .filter_map(|(open, closed, follows)| {
            let (open, closed) = (EndpointIx::from(*open), EndpointIx::from(*closed));
            if !context.is_open(open) || context.is_open(closed) {
                return None;
            }
            // Only a document that decided one of the two is told; what a preset leaves half open is meant.
            let decided = [closed, open].into_iter().find_map(|endpoint| {
                let at = *context.candidates(endpoint, Key::Enabled).first()?;
                let authored = context.rule(at)?.layer == LayerKind::Policy;
                authored.then(|| context.merged.written(at))
            })?;
            let (open, closed) = (context.catalogue.name(open), context.catalogue.name(closed));
            let finding = Diagnostic::new(
                Code::HalfOpenPair,
                format!("`{open}` is open and `{closed}` is closed: {follows}"),
            )
            .help(format!("close `{open}` too, or open `{closed}`"));
            Some(match decided {
                Some(written) => {
                    let span = written.value_span.or(written.key_span);
                    place(finding, span, "decides one of the two").via(written.via)
                }
                None => finding,
            })
        })
        .collect()
}
