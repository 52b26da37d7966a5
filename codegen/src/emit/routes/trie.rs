//! The trie: a node for every prefix of a path template, an edge for every literal segment.
//!
//! A literal segment reserves its place: where one fits, the parameter beside it is not tried. So a match never goes
//! back, and `boxes` is never a sandbox.

use std::collections::BTreeMap;

/// No node, no leaf.
pub(crate) const NONE: u16 = u16::MAX;

/// Places of a node: four methods on each of two listeners.
pub(crate) const PLACES: usize = 8;

/// One door to be put into the trie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route<'a> {
    pub(crate) endpoint: usize,
    pub(crate) door: usize,
    pub(crate) path: &'a str,
    /// Its place in a node.
    pub(crate) slot: usize,
}

/// A prefix of paths.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// The node after any one segment that is no literal here.
    pub(crate) parameter: u16,
    /// The leaf for each method and listener.
    pub(crate) leaves: [u16; PLACES],
}

/// A literal segment that leads from one node to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: u16,
    pub(crate) to: u16,
    pub(crate) segment: String,
}

/// A door, and the names of its parameters in the order of the path.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub(crate) endpoint: u16,
    pub(crate) door: u16,
    pub(crate) parameters: Vec<String>,
}

/// The whole; the root is node 0.
#[derive(Debug, Clone)]
pub(crate) struct Trie {
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) leaves: Vec<Leaf>,
}

/// Builds the trie of `routes`. Of two routes for the same requests the first stands.
pub(crate) fn build<'a>(routes: impl IntoIterator<Item = Route<'a>>) -> Trie {
    let mut trie = Trie { nodes: vec![EMPTY], edges: Vec::new(), leaves: Vec::new() };
    let mut literals: BTreeMap<(u16, &str), u16> = BTreeMap::new();
    for route in routes {
        let mut at = 0;
        let mut parameters = Vec::new();
        for segment in route.path.split('/').skip(1) {
            at = match segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                Some(name) => {
                    parameters.push(name.to_owned());
                    let next = trie.nodes.get(usize::from(at)).map_or(NONE, |node| node.parameter);
                    if next == NONE { trie.grow_parameter(at) } else { next }
                }
                None => *literals.entry((at, segment)).or_insert_with(|| trie.grow_literal(at, segment)),
            };
        }
        let leaf = index(trie.leaves.len());
        let place = trie.nodes.get_mut(usize::from(at)).and_then(|node| node.leaves.get_mut(route.slot));
        if let Some(place) = place.filter(|place| **place == NONE) {
            *place = leaf;
            trie.leaves.push(Leaf { endpoint: index(route.endpoint), door: index(route.door), parameters });
        }
    }
    trie
}

const EMPTY: Node = Node { parameter: NONE, leaves: [NONE; PLACES] };

impl Trie {
    fn grow_literal(&mut self, from: u16, segment: &str) -> u16 {
        let to = index(self.nodes.len());
        self.nodes.push(EMPTY);
        self.edges.push(Edge { from, to, segment: segment.to_owned() });
        to
    }

    fn grow_parameter(&mut self, from: u16) -> u16 {
        let to = index(self.nodes.len());
        self.nodes.push(EMPTY);
        if let Some(node) = self.nodes.get_mut(usize::from(from)) {
            node.parameter = to;
        }
        to
    }
}

/// A position as the tables hold it; a table too large for it loses routes, which the tests of the table would see.
fn index(position: usize) -> u16 {
    u16::try_from(position).unwrap_or(NONE)
}
