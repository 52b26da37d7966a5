//! The route table: a trie over path segments whose every step is one probe of a perfect hash table.
//!
//! [`trie`] builds the nodes and [`perfect`] lays out the edges, both as plain data, so that a table can also be built
//! while the server runs. [`hash`] is compiled into the server as well: both sides must agree on it.

mod hash;
mod perfect;
#[cfg(test)]
mod tests;
mod trie;

use crate::check::Table;
use crate::decl::fields::METHODS;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use trie::{NONE, Route};

/// `ROUTES`.
pub(crate) fn routes(table: &Table) -> TokenStream {
    let doors = table.endpoints.iter().enumerate().flat_map(|(endpoint, row)| {
        let doors = row.doors.iter().enumerate();
        doors.map(move |(at, door)| Route {
            endpoint,
            door: at,
            path: &door.path,
            // The order of `Method` and `Listener`: a node has one place for each pair.
            slot: METHODS.iter().position(|method| *method == door.method).unwrap_or_default()
                + if door.listener == "pty" { METHODS.len() } else { 0 },
        })
    });
    let trie = trie::build(doors);
    let edges = perfect::build(&trie.edges);

    let nodes = trie.nodes.iter().map(|node| {
        if node.parameter == NONE && node.leaves.iter().all(|leaf| *leaf == NONE) {
            return quote! { Node::EMPTY };
        }
        let (parameter, leaves) = (index(node.parameter), node.leaves.iter().copied().map(index));
        quote! { Node { parameter: #parameter, leaves: [#(#leaves),*] } }
    });
    let slots = edges.slots.iter().map(|slot| match slot {
        None => quote! { Edge::EMPTY },
        Some(edge) => {
            let (from, to, segment) = (index(edge.from), index(edge.to), &edge.segment);
            quote! { Edge { from: #from, to: #to, segment: #segment } }
        }
    });
    let leaves = trie.leaves.iter().map(|leaf| {
        let (endpoint, door, parameters) = (index(leaf.endpoint), index(leaf.door), &leaf.parameters);
        quote! { leaf(#endpoint, #door, &[#(#parameters),*]) }
    });
    let seed = Literal::u64_unsuffixed(edges.seed);
    let displacements = edges.displacements.iter().copied().map(Literal::u16_unsuffixed);
    let most =
        Literal::usize_unsuffixed(trie.leaves.iter().map(|leaf| leaf.parameters.len()).max().unwrap_or(0));
    quote! {
        /// The most parameters that a path has.
        pub const MOST_PARAMETERS: usize = #most;

        /// The route table of the declaration.
        pub static ROUTES: Routes = Routes {
            seed: #seed,
            displacements: &[#(#displacements),*],
            edges: &[#(#slots),*],
            nodes: &[#(#nodes),*],
            leaves: &[#(#leaves),*],
        };
    }
}

/// A position, or the word for none.
fn index(position: u16) -> TokenStream {
    if position == NONE {
        return quote! { NONE };
    }
    let position = Literal::u16_unsuffixed(position);
    quote! { #position }
}
