//! Writes the function, and the type of its name that declares it.
//!
//! The type stands in another namespace than the function, so that both have the name: tests call the function, and a
//! server registers the type.

use super::declaration::{Argument, Declaration};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ItemFn;
use syn::spanned::Spanned as _;

/// The code in place of the function.
pub(crate) fn emit(declaration: &Declaration, function: &ItemFn) -> TokenStream {
    let Declaration { name, description, hidden, scopes, arguments, awaits, fails } = declaration;
    let ItemFn { vis, sig, .. } = function;
    let own = &sig.ident;
    let about = format!(" Declares the command `{name}`.");
    let declared = arguments.iter().map(declare);
    let values: Vec<_> = (0..arguments.len()).map(|at| format_ident!("argument_{at}")).collect();
    let taken = arguments.iter().zip(&values).map(|(argument, value)| {
        let (name, of) = (&argument.name, &argument.of);
        quote!(let #value: #of = ::runtime::extend::take(&mut arguments, #name)?;)
    });
    let run = quote!(#own(#(#values),*));
    // What may block gets a thread of its own.
    let run =
        if *awaits { quote!(#run.await) } else { quote!(::runtime::extend::blocking(move || #run).await) };
    let run = if *fails { quote!(#run?) } else { run };
    let output = sig.output.span();
    let written = quote_spanned!(output=> ::runtime::extend::written(#run));
    let brought = if arguments.is_empty() { quote!(_) } else { quote!(mut arguments) };
    quote! {
        #function

        #[doc = #about]
        #[derive(Debug)]
        #[allow(non_camel_case_types, clippy::allow_attributes, clippy::allow_attributes_without_reason)]
        #vis enum #own {}

        impl ::runtime::extend::DeclaredCommand for #own {
            const NAME: &'static str = #name;
            const DESCRIPTION: &'static str = #description;
            const HIDDEN: bool = #hidden;
            const SCOPES: &'static [&'static str] = &[#(#scopes),*];

            fn arguments() -> ::std::vec::Vec<::runtime::commands::Argument> {
                ::std::vec![#(#declared),*]
            }

            async fn call(
                #brought: ::runtime::commands::Arguments,
            ) -> ::std::result::Result<::runtime::extend::Value, ::runtime::commands::CommandError> {
                #(#taken)*
                #written
            }
        }
    }
}

/// The row of one argument.
fn declare(argument: &Argument) -> TokenStream {
    let Argument { name, description, of, default } = argument;
    match default {
        Some(value) => {
            // An error is about the value where it does not fit, and about the type where that is none for an argument.
            let value = quote_spanned!(value.span()=> ::std::convert::Into::<#of>::into(#value));
            quote_spanned!(of.span()=> ::runtime::extend::declare::<#of>(#name, #description, ::std::option::Option::Some(#value)))
        }
        None => {
            quote_spanned!(of.span()=> ::runtime::extend::declare::<#of>(#name, #description, ::std::option::Option::None))
        }
    }
}
