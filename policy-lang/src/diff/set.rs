//! A compiled set as one side of a comparison, also one of another release, which no server of this one takes.

use super::table::Table;
use crate::compile::{self, Options};
use crate::form::{self, FormError};
use crate::layers::environment;
use crate::merge;
use crate::policy::CompiledPolicy;
use crate::source::SourceMap;
use crate::stages::Inputs;

/// A set that was read.
#[derive(Debug)]
pub struct Set {
    /// The policy.
    pub policy: CompiledPolicy,
    /// The endpoints that its tool knew.
    pub table: Table,
    /// Rules that speak of no endpoint of this tool.
    pub dropped: Vec<String>,
}

/// Reads a set; its code layer and custom routes are its own, the environment and the base directory those of `inputs`.
///
/// # Errors
/// Where it is not whole, or says what no compiler accepts.
pub fn load_set(text: &str, inputs: &Inputs<'_>) -> Result<Set, FormError> {
    let foreign = form::read_foreign(text.to_owned())?;
    let mut resolved = foreign.resolved;
    if let Some(value) = inputs.enabled_groups {
        let mut sources = SourceMap::default();
        // What is wrong with the names is found where the server starts.
        let (layer, _) = environment::layer(value, &mut sources);
        let revision = resolved.revision.clone();
        merge::overlay(&mut resolved, &layer, &sources, &foreign.catalogue);
        resolved.revision = revision;
    }
    let written = resolved.base_dir.as_ref().map(|(dir, _)| dir.clone());
    let base_dir = inputs
        .base_dir(written.as_deref())
        .map_err(|fault| FormError::Value { at: "base_dir".to_owned(), why: fault.message })?;
    let revision = resolved.revision.clone();
    let options = Options {
        base_dir: &base_dir,
        revision: &revision,
        lookup: inputs.lookup,
        base_values: inputs.base_values,
    };
    let policy = compile::compile(resolved, &options)
        .map_err(|error| FormError::Value { at: "policy".to_owned(), why: error.to_string() })?;
    Ok(Set { policy, table: Table::of(&foreign.table), dropped: foreign.dropped })
}
