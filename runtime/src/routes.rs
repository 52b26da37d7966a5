//! The route table: from a listener, a method and a path to a door.
//!
//! The table is a trie over path segments, generated from `endpoints.toml`; a step down it is one probe of a perfect
//! hash table, so that a match costs the same however many routes there are, and allocates nothing. Matching is byte for
//! byte on the path as sent. A literal segment reserves its place: where one fits, the parameter beside it is not tried.

#[path = "../../codegen/src/emit/routes/hash.rs"]
mod hash;

use policy_lang::endpoint::{Door, ENDPOINTS, EndpointDecl, Listener, Method};
use policy_lang::resolved::EndpointIx;
use std::ops::Range;

codegen::routes!("../endpoints.toml");

/// No node, no leaf.
const NONE: u16 = u16::MAX;

/// A laid-out trie. Its parts are public so that one can be built while the server runs.
#[derive(Debug, Clone, Copy)]
pub struct Routes {
    /// Makes the hash perfect for these edges.
    pub seed: u64,
    /// By bucket; a power of two of them.
    pub displacements: &'static [u16],
    /// By slot; a power of two of them.
    pub edges: &'static [Edge],
    /// The root is the first.
    pub nodes: &'static [Node],
    /// The doors.
    pub leaves: &'static [Leaf],
}

/// A prefix of paths.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// The node after any one segment that is no literal here.
    pub parameter: u16,
    /// The leaf for each method, on the HTTP listener and then on the PTY listener.
    pub leaves: [u16; 8],
}

impl Node {
    /// No door and no parameter.
    pub const EMPTY: Self = Self { parameter: NONE, leaves: [NONE; 8] };
}

/// A literal segment that leads from one node to another.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    /// The node that it leaves.
    pub from: u16,
    /// The node that it reaches.
    pub to: u16,
    /// The text.
    pub segment: &'static str,
}

impl Edge {
    /// A slot that no edge took: it leaves no node.
    pub const EMPTY: Self = Self { from: NONE, to: NONE, segment: "" };
}

/// A door at the end of a path.
#[derive(Debug, Clone, Copy)]
pub struct Leaf {
    /// Which endpoint it is.
    pub endpoint: EndpointIx,
    /// Its declaration.
    pub declared: &'static EndpointDecl,
    /// Its door.
    pub door: &'static Door,
    /// The names of the parameters, in the order of the path.
    pub parameters: &'static [&'static str],
}

/// Used by the generated table.
#[expect(
    clippy::indexing_slicing,
    reason = "the compiler evaluates it: an index out of range does not build"
)]
const fn leaf(endpoint: usize, door: usize, parameters: &'static [&'static str]) -> Leaf {
    let declared = &ENDPOINTS[endpoint];
    Leaf { endpoint: EndpointIx(declared.id as u16), declared, door: &declared.doors[door], parameters }
}

/// A path that leads somewhere, with the places of its parameters.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    leaves: &'static [Leaf],
    node: &'static Node,
    parameters: Parameters,
}

/// Parameters that there is room for; routes that a template registers may have more than the declared ones.
pub(crate) const ROOM: usize = if MOST_PARAMETERS > 6 { MOST_PARAMETERS } else { 6 };

/// Where the parameters of a path stand, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parameters {
    count: usize,
    ranges: [(usize, usize); ROOM],
}

impl Parameters {
    /// The byte ranges of the path.
    pub fn iter(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.ranges.iter().take(self.count).map(|(start, end)| *start..*end)
    }

    /// Notes one more; false where the array is full.
    pub(crate) fn push(&mut self, range: Range<usize>) -> bool {
        let place = self.ranges.get_mut(self.count);
        self.count += 1;
        place.map(|place| *place = (range.start, range.end)).is_some()
    }
}

impl Routes {
    /// Where `path` leads, whatever the method; `None` where no template fits it.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<Found> {
        let bytes = path.as_bytes();
        let (b'/', _) = bytes.split_first()? else { return None };
        let (mut at, mut parameters) = (0, Parameters::default());
        let mut start = 1;
        loop {
            let rest = bytes.get(start..)?;
            let length = memchr::memchr(b'/', rest);
            let segment = rest.get(..length.unwrap_or(rest.len()))?;
            let node = self.nodes.get(usize::from(at))?;
            at = match self.step(at, segment) {
                Some(next) => next,
                None if node.parameter == NONE || segment.is_empty() => return None,
                None if parameters.push(start..start + segment.len()) => node.parameter,
                None => return None,
            };
            match length {
                Some(length) => start += length + 1,
                None => break,
            }
        }
        let node = self.nodes.get(usize::from(at))?;
        node.leaves.iter().any(|leaf| *leaf != NONE).then_some(Found {
            leaves: self.leaves,
            node,
            parameters,
        })
    }

    /// The node after the literal `segment`.
    fn step(&self, from: u16, segment: &[u8]) -> Option<u16> {
        let hash = hash::edge(self.seed, from, segment);
        let displacement = self.displacements.get(hash::bucket(hash, self.displacements.len()))?;
        let edge = self.edges.get(hash::slot(hash, *displacement, self.edges.len()))?;
        (edge.from == from && edge.segment.as_bytes() == segment).then_some(edge.to)
    }
}

impl Found {
    /// The door for a method on a listener, and where its parameters stand.
    #[must_use]
    pub fn door(&self, listener: Listener, method: Method) -> Option<(&'static Leaf, Parameters)> {
        let leaf = self.node.leaves.get(place(listener, method))?;
        Some((self.leaves.get(usize::from(*leaf))?, self.parameters))
    }

    /// The methods that have a door here, on any listener. Never told to a caller: a path under another method is
    /// not found.
    pub fn methods(&self) -> impl Iterator<Item = Method> + '_ {
        let served = |method: &Method| {
            [Listener::Http, Listener::Pty].iter().any(|listener| self.door(*listener, *method).is_some())
        };
        [Method::Get, Method::Head, Method::Post, Method::Delete].into_iter().filter(served)
    }
}

/// The place of a door in its node.
fn place(listener: Listener, method: Method) -> usize {
    method as usize + 4 * listener as usize
}

#[cfg(test)]
mod tests;
