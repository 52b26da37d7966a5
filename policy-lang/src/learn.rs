//! The least policy that still permits what was observed, written as a document.
//!
//! [`learn`] opens by exact id what was called and nothing else, with every restriction that holds today spelt out, paths
//! and programs narrowed to what was touched, and tokens to the scopes that their calls needed. What comes out is compiled
//! and judged: it permits each observed call that today's policy permits, and nothing that today's refuses.

mod narrow;
mod write;

use crate::decide::{CommandQuery, Op, PathQuery, Query, decide};
use crate::diag::Levels;
use crate::endpoint::{Catalogue, Key};
use crate::fix::widens;
use crate::parse::Format;
use crate::paths;
use crate::policy::CompiledPolicy;
use crate::resolved::EndpointIx;
use crate::scope::ScopeSet;
use crate::stages::{Document, Inputs, compile_document};
use std::collections::{BTreeMap, BTreeSet};

/// A call that was let in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Observed {
    /// The endpoint.
    pub endpoint: EndpointIx,
    /// Who called.
    pub identity: Option<String>,
    /// The path that was touched, absolute.
    pub path: Option<String>,
    /// The program that was run.
    pub program: Option<String>,
    /// The registered command that was run.
    pub command: Option<String>,
}

/// What was learnt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learned {
    /// The document.
    pub document: String,
    /// Endpoints that are open today and were never called, by id.
    pub unused_endpoints: Vec<String>,
    /// Tokens that never called.
    pub unused_tokens: Vec<String>,
    /// Scopes that a token holds and no call of it needed.
    pub unused_scopes: Vec<(String, Vec<String>)>,
    /// Allowed paths and programs under which nothing was touched, by endpoint and key.
    pub unused_entries: Vec<(String, Key, Vec<String>)>,
    /// Observed calls that today's policy refuses, and so does the new one.
    pub refused: Vec<Observed>,
}

/// Why nothing was learnt.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LearnError {
    /// Nothing was observed.
    #[error("no call was let in, so the least policy is `preset: locked`")]
    Nothing,
    /// The document does not compile or does not judge as it must; a fault of this function.
    #[error("the policy that was learnt {0}")]
    Unproven(String),
}

/// Calls by endpoint.
type ByEndpoint<'o> = BTreeMap<EndpointIx, Vec<&'o Observed>>;

/// Learns from the calls that were let in under `today`.
///
/// # Errors
/// See [`LearnError`].
pub fn learn(
    observed: &[Observed],
    today: &CompiledPolicy,
    catalogue: &Catalogue,
) -> Result<Learned, LearnError> {
    let distinct: BTreeSet<&Observed> = observed.iter().collect();
    let (kept, refused): (Vec<&Observed>, Vec<&Observed>) =
        distinct.into_iter().partition(|call| permits(today, call));
    if kept.is_empty() {
        return Err(LearnError::Nothing);
    }
    let mut calls: ByEndpoint<'_> = BTreeMap::new();
    for call in &kept {
        calls.entry(call.endpoint).or_default().push(call);
    }
    let narrowed = narrow::narrow(today, catalogue, &calls);
    let document = write::document(today, catalogue, &narrowed);
    prove(&document, today, catalogue, &kept)?;
    let unused = catalogue.iter().filter(|endpoint| {
        let open = today.endpoint(*endpoint).is_some_and(|endpoint| endpoint.enabled.value);
        open && !catalogue.is_core(*endpoint) && !calls.contains_key(endpoint)
    });
    Ok(Learned {
        unused_endpoints: unused.map(|endpoint| catalogue.name(endpoint).to_owned()).collect(),
        unused_tokens: narrowed.unused_tokens,
        unused_scopes: narrowed.unused_scopes,
        unused_entries: narrowed.unused_entries,
        refused: refused.into_iter().cloned().collect(),
        document,
    })
}

/// Compiles the document, asks every call again, and compares with today.
fn prove(
    document: &str,
    today: &CompiledPolicy,
    catalogue: &Catalogue,
    kept: &[&Observed],
) -> Result<(), LearnError> {
    let levels = Levels::default();
    let inputs = Inputs::new(catalogue, &levels);
    let document = Document { name: "learned.yaml", bytes: document.as_bytes(), format: Format::Yaml };
    let outcome = compile_document(Some(document), &inputs);
    let Some(policy) = outcome.policy else {
        let first = outcome.diagnostics.first().map_or_else(String::new, |finding| finding.message.clone());
        return Err(LearnError::Unproven(format!("does not compile: {first}")));
    };
    if let Some(call) = kept.iter().find(|call| !permits(&policy, call)) {
        let name = catalogue.name(call.endpoint);
        return Err(LearnError::Unproven(format!("refuses a call of `{name}` that was observed")));
    }
    match widens(today, &policy) {
        Some(wider) => Err(LearnError::Unproven(wider)),
        None => Ok(()),
    }
}

/// Whether a policy lets the call in, as far as the log tells of it.
fn permits(policy: &CompiledPolicy, call: &Observed) -> bool {
    let principals = policy.principals().unwrap_or_default();
    let held =
        call.identity.as_deref().and_then(|id| principals.iter().find(|principal| &*principal.id == id));
    let scopes: Option<&ScopeSet> = held.map(|principal| &principal.scopes);
    let path = call
        .path
        .as_deref()
        .and_then(|path| paths::absolute(policy.base_dir().as_bytes(), path.as_bytes()).ok());
    let op = Op::usual(policy.decl(call.endpoint), "path");
    let queries: Vec<PathQuery<'_>> = path.iter().map(|path| PathQuery { role: "path", path, op }).collect();
    let takes_paths = policy.endpoint(call.endpoint).is_some_and(|endpoint| endpoint.paths.is_some());
    let command = call.program.as_deref().map(|argv0| CommandQuery { argv0, found: None, target: None });
    let query = Query {
        scopes,
        scope_param: call.command.as_deref(),
        paths: if takes_paths { &queries } else { &[] },
        command,
        ..Query::of(call.endpoint)
    };
    decide(policy, &query).is_allow()
}

#[cfg(test)]
mod tests;
