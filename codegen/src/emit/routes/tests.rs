//! The perfect hash, of no edge and of thousands.

use super::hash;
use super::perfect::build;
use super::trie::Edge;

/// Every edge is found in its slot.
#[test]
fn every_edge_has_its_slot() {
    for count in [0, 1, 2, 3, 10, 300, 5_000] {
        let edges: Vec<Edge> = (0..count)
            .map(|at: u16| Edge { from: at % 7, to: at, segment: format!("segment-{}", at / 7) })
            .collect();
        let table = build(&edges);
        assert!(table.slots.len() <= 3 * edges.len().max(1), "{count}: {} slots", table.slots.len());
        for edge in &edges {
            let hash = hash::edge(table.seed, edge.from, edge.segment.as_bytes());
            let displacement = table.displacements[hash::bucket(hash, table.displacements.len())];
            let slot = &table.slots[hash::slot(hash, displacement, table.slots.len())];
            assert_eq!(slot.as_ref(), Some(edge), "{count}");
        }
    }
}
