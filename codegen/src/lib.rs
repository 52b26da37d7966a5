//! The build-time macros that turn `endpoints.toml` into ids, scopes, tables and routes.
//!
//! Four plain stages, in order: [`read`] finds the file and its text, [`decl`] turns it into rows whose every field
//! knows its place, [`check`] applies the rules across rows and resolves names and sizes, [`emit`] writes the code.
//! No stage stops at its first fault: all are gathered in [`error`] and shown at once, each as
//! `endpoints.toml:LINE:COLUMN` with the text it is about, and the tables are still written from what could be read,
//! so that the rest of the crate gives no errors of its own.
//!
//! Beside them stands [`macro@command`], which declares a command of a template by the signature of its function.
#![forbid(unsafe_code)]

mod check;
mod command;
mod decl;
mod emit;
mod error;
mod read;

#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// The ids, groups, scopes and rule keys as enums, and their tables: `codegen::endpoints!("../endpoints.toml")`.
///
/// The path is taken from the folder of the calling crate's manifest. The row types (`EndpointDecl`, `Door`,
/// `BaseValue`, …) are those in scope at the call.
#[proc_macro]
pub fn endpoints(input: TokenStream) -> TokenStream {
    read::expand(input.into(), |table, _, _| emit::endpoints(table)).into()
}

/// The route table `ROUTES`: `codegen::routes!("../endpoints.toml")`.
///
/// The types `Routes`, `Node` and `Edge`, the constant `NONE` and the function `leaf(endpoint, door, parameters)` are
/// those in scope at the call.
#[proc_macro]
pub fn routes(input: TokenStream) -> TokenStream {
    read::expand(input.into(), |table, _, _| emit::routes(table)).into()
}

/// The handler of every endpoint, as the exhaustive function `of(EndpointId)`:
/// `codegen::handlers!("../endpoints.toml", not_built = [browser, git_diff], streams_body = [upload])`.
///
/// Each endpoint takes `handler!(<group>::<id>)`, a macro in scope at the call that gets the path of the endpoint's
/// module; those of `streams_body` take `handler!(<group>::<id>, streams_body)`. Those of `not_built`, by id or by group,
/// have none and are listed in `NOT_BUILT`. An endpoint that is neither built nor listed does not compile.
#[proc_macro]
pub fn handlers(input: TokenStream) -> TokenStream {
    read::expand(input.into(), emit::handlers).into()
}

/// Makes a function a command of a template: its name, its arguments with their types and defaults, and what is said of
/// each, come from the signature and its comments.
///
/// `#[command]`, or `#[command(name = "say-hello", hidden, scopes = ["system:read"])]`. A parameter of the type
/// `Option<…>` may be absent; `#[arg(default = 3)]` before a parameter says what holds then. The function may be `async`;
/// one that is not runs on a thread of its own, so that it may block. Its result is anything that can be serialised, or a
/// `Result` whose error becomes a `CommandError`.
///
/// The function stays as it was. Beside it stands a type of its name that the registry of `runtime::extend` takes.
#[proc_macro_attribute]
pub fn command(attribute: TokenStream, function: TokenStream) -> TokenStream {
    command::expand(attribute.into(), function.into()).into()
}
