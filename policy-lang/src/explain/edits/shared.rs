//! Text that several places share: what stands behind an anchor is changed for every alias of it.

use super::TextEdit;
use crate::parse::{Node, NodeKind};
use crate::source::Span;
use std::collections::BTreeSet;

/// How many aliases and merge keys bring in the text that the edit changes: as many places change with it.
pub(super) fn users(root: &Node<'_>, edit: &TextEdit) -> usize {
    let mut found = BTreeSet::new();
    gather(root, edit, &mut found);
    found.len()
}

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
    span.start as usize <= edit.byte_start && edit.byte_end <= span.end as usize
}

/// What a message says of them.
pub(super) fn note(users: usize) -> String {
    match users {
        0 => String::new(),
        1 => " (its anchor is used in 1 other place, which changes too)".to_owned(),
        many => format!(" (its anchor is used in {many} other places, which change too)"),
    }
}
