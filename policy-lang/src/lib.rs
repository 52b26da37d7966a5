//! The policy language: documents in, a compiled policy and diagnostics out. Pure: no files, no environment, no clock.
//!
//! The stages, in order: source → parse (a tree of spanned nodes) → lower (a layer of rules) → merge (one winner per
//! endpoint and key) → check → compile → decide, explain. Each takes the type that the stage before it yields.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod assist;
mod automata;
pub mod check;
pub mod compile;
pub mod decide;
pub mod diag;
pub mod diff;
pub mod endpoint;
pub mod explain;
pub mod fix;
pub mod fmt;
pub mod form;
pub mod layer;
pub mod layers;
pub mod learn;
pub mod lint;
pub mod lower;
pub mod matchers;
pub mod merge;
pub mod parse;
pub mod paths;
pub mod policy;
pub mod render;
pub mod resolved;
pub mod rules;
pub mod schema;
pub mod scope;
pub mod secret;
pub mod source;
pub mod stages;
pub mod testing;
pub mod variant;

pub use stages::{Document, Inputs, Outcome, compile_document, load_compiled};
