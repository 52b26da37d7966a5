//! The perfect hash: every edge gets a slot of its own, found by two multiplications and no search.
//!
//! Hash and displace: edges fall into small buckets, and each bucket, the fullest first, gets the first displacement
//! that sends all of its edges to free slots. One table holds the edges of all nodes.

use super::hash;
use super::trie::Edge;

/// The laid-out edges. Both lists are powers of two long.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) seed: u64,
    pub(crate) displacements: Vec<u16>,
    pub(crate) slots: Vec<Option<Edge>>,
}

/// Lays out `edges`, which differ in node or segment.
pub(crate) fn build(edges: &[Edge]) -> Table {
    // A seed fails with a probability far below one half, and there is always a next one.
    (0..).find_map(|seed| attempt(edges, seed)).unwrap_or(Table {
        seed: 0,
        displacements: vec![0],
        slots: vec![None],
    })
}

fn attempt(edges: &[Edge], seed: u64) -> Option<Table> {
    let slots = (edges.len() * 5 / 4).next_power_of_two();
    let buckets = edges.len().div_ceil(4).next_power_of_two();
    let hashes: Vec<u64> =
        edges.iter().map(|edge| hash::edge(seed, edge.from, edge.segment.as_bytes())).collect();
    let mut filled: Vec<Vec<usize>> = vec![Vec::new(); buckets];
    for (at, hash) in hashes.iter().enumerate() {
        filled.get_mut(hash::bucket(*hash, buckets))?.push(at);
    }
    let mut order: Vec<usize> = (0..buckets).collect();
    order.sort_by_key(|bucket| std::cmp::Reverse(filled.get(*bucket).map_or(0, Vec::len)));

    let mut table = Table { seed, displacements: vec![0; buckets], slots: vec![None; slots] };
    for bucket in order {
        let members = filled.get(bucket)?;
        let (displacement, places) = (0..u16::MAX).find_map(|displacement| {
            let mut places: Vec<usize> = Vec::with_capacity(members.len());
            for member in members {
                let place = hash::slot(*hashes.get(*member)?, displacement, slots);
                if table.slots.get(place)?.is_some() || places.contains(&place) {
                    return None;
                }
                places.push(place);
            }
            Some((displacement, places))
        })?;
        *table.displacements.get_mut(bucket)? = displacement;
        for (member, place) in members.iter().zip(places) {
            *table.slots.get_mut(place)? = edges.get(*member).cloned();
        }
    }
    Some(table)
}
