//! The exhaustive step from an id to its handler.

use crate::check::Table;
use crate::emit::variant;
use crate::read::Input;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::collections::BTreeSet;

/// `of` and `NOT_BUILT`; a name in a list of the call that is neither id nor group is a fault of the call.
pub(crate) fn handlers(table: &Table, input: &Input, faults: &mut Vec<syn::Error>) -> TokenStream {
    let not_built = members(table, &input.not_built, faults);
    let streams_body = members(table, &input.streams_body, faults);
    let arms = table.endpoints.iter().enumerate().map(|(at, row)| {
        let id = variant(&row.name.text);
        if not_built.contains(&at) {
            return quote! { EndpointId::#id => None };
        }
        let group = table.groups.get(row.group).map_or("", |group| group.name.text.as_str());
        let (group, module) = (module(group), module(&row.name.text));
        let how = streams_body.contains(&at).then(|| quote! { , streams_body });
        quote! { EndpointId::#id => Some(handler!(#group::#module #how)) }
    });
    let unbuilt =
        not_built.iter().filter_map(|at| table.endpoints.get(*at)).map(|row| variant(&row.name.text));
    quote! {
        /// The handler of an endpoint; `None` while it is not built.
        #[must_use]
        pub fn of(id: EndpointId) -> Option<Handler> {
            match id {
                #(#arms,)*
            }
        }

        /// The endpoints that have no handler yet, in declaration order.
        pub static NOT_BUILT: &[EndpointId] = &[#(EndpointId::#unbuilt),*];
    }
}

/// The positions of the endpoints that `names` names by id or by group.
fn members(table: &Table, names: &[Ident], faults: &mut Vec<syn::Error>) -> BTreeSet<usize> {
    let mut members = BTreeSet::new();
    for name in names {
        let text = name.to_string();
        let group = table.groups.iter().position(|group| group.name.text == text);
        let named = table.endpoints.iter().enumerate();
        let named = named.filter(|(_, row)| row.name.text == text || Some(row.group) == group);
        let named: Vec<usize> = named.map(|(at, _)| at).collect();
        if named.is_empty() {
            faults.push(syn::Error::new(name.span(), format!("`{text}` is neither an endpoint nor a group")));
        } else if named.iter().any(|at| members.contains(at)) {
            faults.push(syn::Error::new(name.span(), format!("`{text}` is listed already")));
        }
        members.extend(named);
    }
    members
}

/// A name as a module; names that make none were reported.
fn module(name: &str) -> Ident {
    syn::parse_str(name).unwrap_or_else(|_| Ident::new("unnamed", Span::call_site()))
}
