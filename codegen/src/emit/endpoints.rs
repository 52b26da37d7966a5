//! The endpoint table.

use crate::check::{Base, Door, Endpoint, Table};
use crate::emit::{nth, variant};
use proc_macro2::TokenStream;
use quote::quote;

/// `ENDPOINTS`.
pub(super) fn emit(table: &Table) -> TokenStream {
    let rows = table.endpoints.iter().map(|row| endpoint(row, table));
    let endpoints_count = table.endpoints.len();
    quote! {
        /// The endpoint table, in declaration order: `ENDPOINTS[id.index()]`.
        pub static ENDPOINTS: [EndpointDecl; #endpoints_count] = [#(#rows),*];
    }
}

fn endpoint(row: &Endpoint, table: &Table) -> TokenStream {
    let Endpoint { summary, scopes, auth_required, streaming, named, .. } = row;
    let name = &row.name.text;
    let id = variant(name);
    let group = nth(table.groups.iter().map(|group| &group.name), row.group);
    let class = row.limit_class.as_ref().map_or_else(|| quote!(None), |class| quote!(Some(#class)));
    let doors = row.doors.iter().map(door);
    let key = |at: &usize| nth(table.keys.iter().map(|key| &key.name), *at);
    let accepts = row.accepts.iter().map(key);
    let base = row.base.iter().map(|(at, value)| {
        let (key, value) = (key(at), self::base(value));
        quote! { (Key::#key, #value) }
    });
    let audit = variant(&row.audit);
    quote! {
        EndpointDecl {
            id: EndpointId::#id,
            name: #name,
            summary: #summary,
            group: Group::#group,
            scopes: &[#(#scopes),*],
            auth_required: #auth_required,
            streaming: #streaming,
            named: #named,
            limit_class: #class,
            doors: &[#(#doors),*],
            accepts: KeySet::of(&[#(Key::#accepts),*]),
            base: &[#(#base),*],
            audit: AuditLevel::#audit,
        }
    }
}

fn door(row: &Door) -> TokenStream {
    let Door { path, upgrade, .. } = row;
    let (method, body) = (variant(&row.method), variant(&row.body));
    let (errors, listener) = (variant(&row.errors), variant(&row.listener));
    quote! {
        Door {
            method: Method::#method,
            path: #path,
            body: BodyKind::#body,
            upgrade: #upgrade,
            errors: ErrorStyle::#errors,
            listener: Listener::#listener,
        }
    }
}

fn base(value: &Base) -> TokenStream {
    match value {
        Base::Bool(flag) => quote! { BaseValue::Bool(#flag) },
        Base::Number(number) => quote! { BaseValue::Number(#number) },
        Base::Words(words) => quote! { BaseValue::Words(&[#(#words),*]) },
        Base::Numbers(numbers) => quote! { BaseValue::Numbers(&[#(#numbers),*]) },
    }
}
