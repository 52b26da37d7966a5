//! The enums: ids, groups, scopes and keys, each with its names.

use crate::check::{Name, Table};
use crate::emit::variant;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// The variant of an enum that would be empty.
pub(super) const NOTHING: &str = "nothing";

/// The four enums.
pub(super) fn emit(table: &Table) -> TokenStream {
    let ids = table.endpoints.iter().map(|row| (&row.name, row.summary.as_str()));
    let groups = table.groups.iter().map(|row| (&row.name, row.summary.as_str()));
    let scopes = table.scopes.iter().map(|row| (&row.name, row.summary.as_str()));
    let keys = table.keys.iter().map(|row| (&row.name, row.summary.as_str()));
    let ids = names("EndpointId", "An endpoint of the catalogue.", ids);
    let groups = names("Group", "A group of endpoints.", groups);
    let scopes = names("Scope", "A scope.", scopes);
    let keys = names("Key", "A rule key.", keys);
    quote! { #ids #groups #scopes #keys }
}

/// One enum in declaration order, with `COUNT`, `ALL`, `as_str`, `from_name` and `index`.
fn names<'a>(name: &str, doc: &str, rows: impl Iterator<Item = (&'a Name, &'a str)>) -> TokenStream {
    let name = Ident::new(name, Span::call_site());
    let mut rows: Vec<(String, String)> =
        rows.map(|(name, summary)| (name.text.clone(), summary.to_owned())).collect();
    if rows.is_empty() {
        rows.push((NOTHING.to_owned(), "stands in for a list that could not be read".to_owned()));
    }
    let count = rows.len();
    let texts: Vec<&str> = rows.iter().map(|(text, _)| text.as_str()).collect();
    let variants: Vec<Ident> = texts.iter().map(|text| variant(text)).collect();
    let docs = rows.iter().map(|(text, summary)| format!(" `{text}`: {summary}"));
    let doc = format!(" {doc}");
    quote! {
        #[doc = #doc]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum #name {
            #(#[doc = #docs] #variants,)*
        }

        impl #name {
            /// How many there are.
            pub const COUNT: usize = #count;

            /// All, in declaration order.
            pub const ALL: [Self; Self::COUNT] = [#(Self::#variants),*];

            /// The name as written.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    #(Self::#variants => #texts,)*
                }
            }

            /// The one of that exact name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    #(#texts => Some(Self::#variants),)*
                    _ => None,
                }
            }

            /// Position in declaration order.
            #[must_use]
            pub const fn index(self) -> usize {
                self as usize
            }
        }
    }
}
