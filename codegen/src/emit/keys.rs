//! The table of rule keys.

use crate::check::Table;
use crate::emit::variant;
use proc_macro2::TokenStream;
use quote::quote;

/// `KEYS`.
pub(super) fn emit(table: &Table) -> TokenStream {
    let keys = table.keys.iter().map(|row| {
        let (name, summary) = (&row.name.text, &row.summary);
        let (key, kind, law) = (variant(name), variant(row.kind.as_deref().unwrap_or("bool")), variant(&row.law));
        quote! {
            KeyDecl { key: Key::#key, name: #name, kind: KeyKind::#kind, law: MergeLaw::#law, summary: #summary }
        }
    });
    let keys_count = table.keys.len();
    quote! {
        /// The key table: `KEYS[key.index()]`.
        pub static KEYS: [KeyDecl; #keys_count] = [#(#keys),*];
    }
}
