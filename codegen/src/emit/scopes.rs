//! The tables of groups, scopes and bundles.

use crate::check::Table;
use crate::emit::{nth, variant};
use proc_macro2::TokenStream;
use quote::quote;

/// `GROUPS`, `SCOPES` and `BUNDLES`.
pub(super) fn emit(table: &Table) -> TokenStream {
    let groups = table.groups.iter().enumerate().map(|(at, row)| {
        let (name, summary) = (&row.name.text, &row.summary);
        let (group, default) = (variant(name), variant(&row.default));
        let members = table.endpoints.iter().filter(|endpoint| endpoint.group == at);
        let members = members.map(|endpoint| variant(&endpoint.name.text));
        quote! {
            GroupDecl {
                group: Group::#group,
                name: #name,
                default: DefaultState::#default,
                summary: #summary,
                members: &[#(EndpointId::#members),*],
            }
        }
    });
    let scopes = table.scopes.iter().map(|row| {
        let (name, summary) = (&row.name.text, &row.summary);
        let scope = variant(name);
        quote! { ScopeDecl { scope: Scope::#scope, name: #name, summary: #summary } }
    });
    let bundles = table.bundles.iter().map(|row| {
        let (name, summary) = (&row.name, &row.summary);
        let scopes = row.scopes.iter().map(|scope| nth(table.scopes.iter().map(|row| &row.name), *scope));
        quote! { BundleDecl { name: #name, scopes: &[#(Scope::#scopes),*], summary: #summary } }
    });
    let scopes_count = table.scopes.len();
    let groups_count = table.groups.len();
    quote! {
        /// The group table: `GROUPS[group.index()]`.
        pub static GROUPS: [GroupDecl; #groups_count] = [#(#groups),*];

        /// The scope table: `SCOPES[scope.index()]`.
        pub static SCOPES: [ScopeDecl; #scopes_count] = [#(#scopes),*];

        /// The bundles.
        pub static BUNDLES: &[BundleDecl] = &[#(#bundles),*];
    }
}
