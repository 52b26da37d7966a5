//! Writes the checked table as Rust. The names of row types are those in scope at the call.
//!
//! A faulty declaration is written as well, as far as it could be read: users then see what is wrong with
//! `endpoints.toml` and not hundreds of missing names. An enum needs a variant, so that an empty list gets one that
//! stands for nothing.

mod endpoints;
mod fingerprint;
mod handlers;
mod ids;
mod keys;
mod routes;
mod scopes;

#[cfg(test)]
pub(crate) use fingerprint::of as fingerprint;
pub(crate) use handlers::handlers;
pub(crate) use routes::routes;

use crate::check::Table;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// Everything that `endpoints!` writes.
pub(crate) fn endpoints(table: &Table) -> TokenStream {
    let ids = ids::emit(table);
    let scopes = scopes::emit(table);
    let keys = keys::emit(table);
    let endpoints = endpoints::emit(table);
    let fingerprint = fingerprint::emit(table);
    quote! { #ids #scopes #keys #endpoints #fingerprint }
}

/// A word of the declaration as a variant: `opt-in` is `OptIn`, `GET` is `Get`.
fn variant(word: &str) -> Ident {
    Ident::new(&crate::check::camel(word), Span::call_site())
}

/// The variant of the row at `index`, or the first one where the row was lost.
fn nth<'a>(names: impl Iterator<Item = &'a crate::check::Name>, index: usize) -> Ident {
    names.into_iter().nth(index).map_or_else(|| variant(ids::NOTHING), |name| variant(&name.text))
}
