//! The attribute `#[command]`: a function becomes a command of a template, declared by its own signature.
//!
//! Two stages: [`declaration`] reads the attribute and the function, and gathers every fault with the tokens that it is
//! about; [`emit`] writes the function as it was, and beside it a type of the same name that declares it. Where there
//! are faults the function still stands, so that its callers give no errors of their own.

mod declaration;
mod emit;
#[cfg(test)]
mod tests;

use declaration::Declaration;
use proc_macro2::TokenStream;

/// What the compiler is given in place of the function.
pub(crate) fn expand(attribute: TokenStream, function: TokenStream) -> TokenStream {
    let mut function = match syn::parse2(function.clone()) {
        Ok(function) => function,
        Err(error) => {
            let told = syn::Error::new(error.span(), "`#[command]` belongs on a function");
            let told = told.into_compile_error();
            return quote::quote!(#told #function);
        }
    };
    match Declaration::read(attribute, &mut function) {
        Ok(declaration) => emit::emit(&declaration, &function),
        Err(faults) => {
            let faults = faults.into_compile_error();
            quote::quote!(#faults #function)
        }
    }
}
