//! Finds and reads the declaration, runs the stages, and joins their code with what is wrong.
//!
//! The emitted `include_bytes!` makes the compiler watch the file: an edit of it rebuilds every crate that calls.

use crate::check::{self, Table};
use crate::decl;
use crate::error::Faults;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::path::Path;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{LitStr, Token, bracketed};

/// What stands between the parentheses of a call.
pub(crate) struct Input {
    path: LitStr,
    /// `not_built = […]`: ids and groups.
    pub(crate) not_built: Vec<Ident>,
    /// `streams_body = […]`: ids and groups.
    pub(crate) streams_body: Vec<Ident>,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut parsed = Self { path: input.parse()?, not_built: Vec::new(), streams_body: Vec::new() };
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let option: Ident = input.parse()?;
            let list = match option.to_string().as_str() {
                "not_built" => &mut parsed.not_built,
                "streams_body" => &mut parsed.streams_body,
                other => {
                    let message =
                        format!("unknown option `{other}`; there are `not_built` and `streams_body`");
                    return Err(syn::Error::new(option.span(), message));
                }
            };
            input.parse::<Token![=]>()?;
            let names;
            bracketed!(names in input);
            list.extend(Punctuated::<Ident, Token![,]>::parse_terminated(&names)?);
        }
        Ok(parsed)
    }
}

/// Runs every stage on the file that a call names. `emit` gets the table, the call, and a list for faults of the call.
pub(crate) fn expand(
    input: TokenStream,
    emit: impl FnOnce(&Table, &Input, &mut Vec<syn::Error>) -> TokenStream,
) -> TokenStream {
    let input: Input = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let path = Path::new(&folder).join(input.path.value());
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            let watched = path.to_string_lossy();
            let code = expand_text(&text, &input, emit);
            quote! {
                const _: &[u8] = include_bytes!(#watched);
                #code
            }
        }
        Err(error) => {
            let message = format!("cannot read {}: {error}", input.path.value());
            syn::Error::new(input.path.span(), message).into_compile_error()
        }
    }
}

/// Runs the stages on `text`: the code, and one `compile_error!` that shows all faults where there are any.
pub(crate) fn expand_text(
    text: &str,
    input: &Input,
    emit: impl FnOnce(&Table, &Input, &mut Vec<syn::Error>) -> TokenStream,
) -> TokenStream {
    let mut faults = Faults::default();
    let declaration = decl::read(text, &mut faults);
    let table = check::check(&declaration, &mut faults);
    let mut call_faults = Vec::new();
    let code = emit(&table, input, &mut call_faults);
    if !faults.is_empty() {
        let path = input.path.value();
        let name = path.trim_start_matches("../");
        let message = format!("{name} has faults\n\n{}", faults.render(name, text));
        call_faults.push(syn::Error::new(Span::call_site(), message));
    }
    let errors = call_faults.into_iter().map(syn::Error::into_compile_error);
    quote! { #(#errors)* #code }
}
