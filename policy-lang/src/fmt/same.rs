//! Whether two texts say the same: equal trees whatever the places, and the same comments in the same order.

use crate::parse::{Layout, Node, NodeKind};

/// Whether two trees are equal.
pub(super) fn same(a: &Node<'_>, b: &Node<'_>) -> bool {
    match (&a.kind, &b.kind) {
        (NodeKind::Null { .. }, NodeKind::Null { .. }) => true,
        (NodeKind::Bool(a), NodeKind::Bool(b)) => a == b,
        (NodeKind::Int(a), NodeKind::Int(b)) => a == b,
        (NodeKind::Float(a), NodeKind::Float(b)) => a.to_bits() == b.to_bits(),
        (NodeKind::Text { text: a, quoted: x }, NodeKind::Text { text: b, quoted: y }) => a == b && x == y,
        (NodeKind::Seq(a), NodeKind::Seq(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (NodeKind::Map(a), NodeKind::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.key == b.key && same(&a.value, &b.value))
        }
        _ => false,
    }
}

/// Whether two texts have the same comments.
pub(super) fn comments(a: &str, b: &str) -> bool {
    let read = |text: &str| -> Vec<String> {
        let comments = Layout::of(text).comments.into_iter();
        comments.filter_map(|range| text.get(range).map(str::to_owned)).collect()
    };
    read(a) == read(b)
}
