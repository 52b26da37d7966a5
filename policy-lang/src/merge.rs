//! Layers to one winner per endpoint and key.
//!
//! Every rule of every layer is kept once ([`intern`]); [`index`] then lists, per endpoint and key, the statements that
//! speak of it by falling precedence. Lists are never copied per endpoint, so a rule over `*` costs as much as a rule
//! over one id. The law of a key (replace or accumulate) stands in its row of the key table; this module only orders.

pub(crate) mod conflict;
pub(crate) mod index;
pub(crate) mod intern;

use crate::diag::Diagnostic;
use crate::endpoint::Catalogue;
use crate::layer::{Block, Layer, Statement};
use crate::resolved::revision::revision;
use crate::resolved::{Resolved, RuleIx, StatementIx};
use crate::source::SourceMap;

pub(crate) use intern::lay;
pub use intern::overlay;

/// A merged policy beside the written rules that it came from, as later stages of the same run need them for spans.
#[derive(Debug)]
pub struct Merged<'a> {
    /// What the stages after this one take.
    pub resolved: Resolved,
    /// The written rule of each rule from the first that is not built in.
    pub blocks: Vec<&'a Block>,
    /// The written statement of each statement.
    pub statements: Vec<&'a Statement>,
}

impl<'a> Merged<'a> {
    /// The written rule, for a rule of a layer.
    #[must_use]
    pub fn block(&self, rule: RuleIx) -> Option<&'a Block> {
        self.blocks.get((rule.0 as usize).checked_sub(Resolved::BUILT_IN)?).copied()
    }

    /// The written statement.
    #[must_use]
    pub fn written(&self, statement: StatementIx) -> Option<&'a Statement> {
        self.statements.get(statement.0 as usize).copied()
    }
}

/// Merges layers, whatever order they come in. The findings are `conflicting-globs`.
#[must_use]
pub fn merge<'a>(
    layers: &'a [Layer],
    sources: &SourceMap,
    catalogue: &Catalogue,
) -> (Merged<'a>, Vec<Diagnostic>) {
    let (mut merged, diagnostics) = merge_unnamed(layers, sources, catalogue);
    merged.resolved.revision = revision(&merged.resolved);
    (merged, diagnostics)
}

/// The same without the digest of the content, which takes a tenth of the time and which few ask for.
#[must_use]
pub fn merge_unnamed<'a>(
    layers: &'a [Layer],
    sources: &SourceMap,
    catalogue: &Catalogue,
) -> (Merged<'a>, Vec<Diagnostic>) {
    let mut merged = intern::intern(layers, sources);
    merged.resolved.custom = catalogue.custom().to_vec();
    merged.resolved.endpoints = index::index(&merged.resolved, catalogue);
    let diagnostics = conflict::conflicts(&merged, catalogue);
    (merged, diagnostics)
}
