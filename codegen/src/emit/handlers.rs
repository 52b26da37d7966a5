//! The exhaustive step from an id to its handler.

use crate::check::Table;
use crate::emit::variant;
use crate::read::Input;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::collections::BTreeSet;

/// `handler` and `NOT_BUILT`; a name in `not_built` that is neither id nor group is a fault of the call.
pub(crate) fn handlers(table: &Table, input: &Input, faults: &mut Vec<syn::Error>) -> TokenStream {
    let mut not_built = BTreeSet::new();
    for name in &input.not_built {
        let text = name.to_string();
        let group = table.groups.iter().position(|group| group.name.text == text);
        let members = table.endpoints.iter().filter(|row| row.name.text == text || Some(row.group) == group);
        let before = not_built.len();
        let mut known = false;
        for row in members {
            known = true;
            not_built.insert(row.name.text.as_str());
        }
        if !known {
            faults.push(syn::Error::new(name.span(), format!("`{text}` is neither an endpoint nor a group")));
        } else if not_built.len() == before {
            faults.push(syn::Error::new(name.span(), format!("`{text}` is listed already")));
        }
    }
    let arms = table.endpoints.iter().map(|row| {
        let id = variant(&row.name.text);
        if not_built.contains(row.name.text.as_str()) {
            return quote! { EndpointId::#id => handler!(not_built) };
        }
        let group = table.groups.get(row.group).map_or("", |group| group.name.text.as_str());
        let (group, module) = (module(group), module(&row.name.text));
        quote! { EndpointId::#id => handler!(#group::#module) }
    });
    let unbuilt = table.endpoints.iter().filter(|row| not_built.contains(row.name.text.as_str()));
    let unbuilt = unbuilt.map(|row| variant(&row.name.text));
    quote! {
        /// The handler of an endpoint.
        pub(crate) fn handler(id: EndpointId) -> Handler {
            match id {
                #(#arms,)*
            }
        }

        /// The endpoints that have no handler yet, in declaration order.
        pub static NOT_BUILT: &[EndpointId] = &[#(EndpointId::#unbuilt),*];
    }
}

/// A name as a module; names that make none were reported.
fn module(name: &str) -> Ident {
    syn::parse_str(name).unwrap_or_else(|_| Ident::new("unnamed", Span::call_site()))
}
