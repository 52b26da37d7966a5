//! The route table: a trie over path segments whose every step is one probe of a perfect hash table.
//!
//! [`trie`] builds the nodes and [`perfect`] lays out the edges, both as plain data, so that a table can also be built
//! while the server runs. [`hash`] is compiled into the server as well: both sides must agree on it.

mod hash;
mod perfect;
mod trie;

use crate::check::Table;
use crate::decl::fields::METHODS;
use proc_macro2::TokenStream;
use quote::quote;
use trie::Route;

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
        let (parameter, leaves) = (node.parameter, &node.leaves);
        quote! { Node { parameter: #parameter, leaves: [#(#leaves),*] } }
    });
    let slots = edges.slots.iter().map(|slot| match slot {
        None => quote! { Edge { from: u16::MAX, to: u16::MAX, segment: "" } },
        Some(edge) => {
            let (from, to, segment) = (edge.from, edge.to, &edge.segment);
            quote! { Edge { from: #from, to: #to, segment: #segment } }
        }
    });
    let leaves = trie.leaves.iter().map(|leaf| {
        let (endpoint, door, parameters) = (leaf.endpoint, leaf.door, &leaf.parameters);
        quote! { Leaf { endpoint: #endpoint, door: #door, parameters: &[#(#parameters),*] } }
    });
    let (seed, displacements) = (edges.seed, &edges.displacements);
    quote! {
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
