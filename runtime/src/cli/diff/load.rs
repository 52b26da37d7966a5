//! From two texts to the comparison of what they decide.

use super::pairs::Text;
use crate::boot::commands::Declared;
use crate::cli::check_config::format;
use crate::cli::failure::Failure;
use policy_lang::diag::{Levels, Severity};
use policy_lang::diff::table::Table;
use policy_lang::diff::{self, Compared, Diff};
use policy_lang::form;
use policy_lang::policy::CompiledPolicy;
use policy_lang::source::SourceMap;
use policy_lang::stages::{Document, Inputs, Outcome, compile_document};

/// One side that was loaded.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) name: String,
    pub(super) policy: CompiledPolicy,
    pub(super) sources: SourceMap,
    /// Whether it was a compiled set.
    pub(super) compiled: bool,
    table: Table,
    /// Rules of a set that speak of no endpoint of this tool.
    pub(super) dropped: Vec<String>,
}

impl Loaded {
    fn compared(&self) -> Compared<'_> {
        Compared { policy: &self.policy, known: self.table.known() }
    }
}

/// What stands beside a side's text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side<'a>(&'a Declared);

impl<'a> Side<'a> {
    pub(super) const fn of(declared: &'a Declared) -> Self {
        Self(declared)
    }
}

/// Both sides, each loaded or with its findings, and what changed where both are there.
pub(super) struct Sides {
    pub(super) old: Result<Loaded, Box<Outcome>>,
    pub(super) new: Result<Loaded, Box<Outcome>>,
    pub(super) diff: Diff,
}

pub(super) fn compare(
    old: Text,
    new: Text,
    [before, after]: [Side<'_>; 2],
    groups: Option<&str>,
) -> Result<Sides, Failure> {
    let (old, new) = (load(old, before, groups)?, load(new, after, groups)?);
    let diff = match (&old, &new) {
        (Ok(old), Ok(new)) => diff::compare(old.compared(), new.compared()),
        _ => Diff::default(),
    };
    Ok(Sides { old, new, diff })
}

fn load(
    text: Text,
    Side(declared): Side<'_>,
    groups: Option<&str>,
) -> Result<Result<Loaded, Box<Outcome>>, Failure> {
    let levels = Levels::default();
    let inputs = Inputs {
        enabled_groups: groups,
        switches: &declared.switches,
        ..Inputs::new(declared.routes.catalogue(), &levels)
    };
    if let Some(set) = std::str::from_utf8(&text.bytes).ok().filter(|set| form::is_compiled(set)) {
        let set = diff::load_set(set, &inputs).map_err(|error| Failure::set(&text.name, &error))?;
        return Ok(Ok(Loaded {
            name: text.name,
            policy: set.policy,
            sources: SourceMap::new(),
            compiled: true,
            table: set.table,
            dropped: set.dropped,
        }));
    }
    let document = Document { name: &text.name, bytes: &text.bytes, format: format(&text.name) };
    let mut outcome = compile_document(Some(document), &inputs);
    let Some(policy) = outcome.policy.take() else {
        // What is merely worth a warning is for `check-config` to say.
        outcome.diagnostics.retain(|found| found.severity == Severity::Error);
        return Ok(Err(Box::new(outcome)));
    };
    let (name, sources) = (text.name, outcome.sources);
    Ok(Ok(Loaded { name, policy, sources, compiled: false, table: Table::Own, dropped: Vec::new() }))
}
