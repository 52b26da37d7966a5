//! Text that several places share: what stands behind an anchor is changed for every alias of it.

use super::TextEdit;
use crate::parse::{Node, NodeKind};
use crate::source::Span;
use std::collections::BTreeSet;

/// In how many places of the policy the text stands that the edit changes, beside the one that is meant.
pub(super) fn others(policy: &Node<'_>, edit: &TextEdit) -> usize {
    let mut aliases = BTreeSet::new();
    gather(policy, edit, &mut aliases);
    let places = aliases.len() + usize::from(holds(policy.span, edit));
    places.saturating_sub(1)
}

/// The aliases and merge keys that bring it in, by where they stand.
fn gather(node: &Node<'_>, edit: &TextEdit, found: &mut BTreeSet<u32>) {
    if let Some(via) = node.via
        && holds(node.span, edit)
    {
        found.insert(via.start);
    }
    match &node.kind {
        NodeKind::Map(entries) => entries.iter().for_each(|entry| gather(&entry.value, edit, found)),
        NodeKind::Seq(items) => items.iter().for_each(|item| gather(item, edit, found)),
        _ => {}
    }
}

fn holds(span: Span, edit: &TextEdit) -> bool {
    (span.start as usize..=span.end as usize).contains(&edit.byte_start)
}

/// What a message says of them.
pub(super) fn note(others: usize) -> String {
    match others {
        0 => String::new(),
        1 => " (an alias brings it to 1 other place, which changes too)".to_owned(),
        many => format!(" (aliases bring it to {many} other places, which change too)"),
    }
}
