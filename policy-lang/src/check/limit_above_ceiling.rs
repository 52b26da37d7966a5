//! `limit-above-ceiling`: a limit beyond what the server itself allows.

use super::Context;
use crate::diag::{Code, Diagnostic, Suggestion};
use crate::endpoint::Key;
use crate::resolved::ResolvedValue;

/// The most connections that a server keeps at the same time, whatever a policy says.
pub const MAX_CONNECTIONS: u16 = 512;

/// A bound of the server that no policy lifts.
#[derive(Debug)]
pub struct Ceiling {
    /// The limit that it bounds.
    pub key: Key,
    /// The greatest value that can be reached.
    pub most: u64,
    /// What bounds it, as the end of a sentence.
    pub why: &'static str,
}

/// Every ceiling. What a handler uses where the policy says nothing is no ceiling: a rule may raise it.
pub const CEILINGS: &[Ceiling] = &[Ceiling {
    key: Key::LimitsMaxConcurrency,
    most: MAX_CONNECTIONS as u64,
    why: "the server keeps 512 connections at most",
}];

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for authored in context.authored() {
        let key = authored.said.key;
        let ResolvedValue::Number(value) = authored.said.value else { continue };
        let Some(ceiling) = CEILINGS.iter().find(|ceiling| ceiling.key == key && value > ceiling.most) else {
            continue;
        };
        let message = format!("`{}` of {value} is never reached: {}", key.as_str(), ceiling.why);
        let finding =
            Diagnostic::new(Code::LimitAboveCeiling, message).help(format!("write {} or less", ceiling.most));
        let finding = authored.mark(finding, authored.span(), "above the ceiling");
        let finding = match authored.span().filter(|_| authored.written.via.is_none()) {
            Some(span) => finding.suggest(Suggestion::safe(
                format!("write {}", ceiling.most),
                span,
                ceiling.most.to_string(),
            )),
            None => finding,
        };
        found.push(context.affecting(
            finding,
            &authored.block.selector,
            &context.takers(&authored.block.selector, key),
        ));
    }
    found
}
