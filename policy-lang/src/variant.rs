//! The same policy with another document: what mutation tests and fixes ask, without a text being read again.
//!
//! A [`Stack`] holds the layers that a document was merged with. [`Stack::compile`] puts another document layer among them;
//! [`Effect`] is what a policy says of every endpoint and key, places left out, so that two can be compared.

use crate::compile::{self, Options};
use crate::endpoint::{Catalogue, KEYS, Key, MergeLaw};
use crate::explain::keys::base;
use crate::layer::Layer;
use crate::layers::{code, default, environment, preset};
use crate::merge;
use crate::policy::CompiledPolicy;
use crate::resolved::{EndpointIx, Resolved, ResolvedValue};
use crate::source::SourceMap;
use crate::stages::{DEFAULT_BASE_DIR, Document, Inputs, Outcome};

/// The layers of one run, the document's apart.
#[derive(Debug)]
pub struct Stack<'a> {
    inputs: &'a Inputs<'a>,
    sources: SourceMap,
    others: Vec<Layer>,
    /// The document's layer as it was read.
    pub document: Layer,
}

impl<'a> Stack<'a> {
    /// The layers that `outcome` was merged from. None where a layer that stands beside the document could not be made.
    #[must_use]
    pub fn new(document: Option<Document<'_>>, outcome: &Outcome, inputs: &'a Inputs<'a>) -> Option<Self> {
        let mut sources = SourceMap::default();
        // The document stands first, as it did in the run, so that its places stay good.
        if let Some(document) = document {
            sources.add_bytes(document.name, document.bytes.to_vec());
        }
        let mut others = vec![default::layer(), code::layer(inputs.switches).ok()?];
        let written = outcome.layer.preset.as_ref().map(|preset| preset.value.as_str());
        if let Some(name) = inputs.preset.or(written) {
            others.push(preset::layer(name, &mut sources, inputs.catalogue)?.0);
        }
        if let Some(value) = inputs.enabled_groups {
            others.push(environment::layer(value, &mut sources).0);
        }
        Some(Self { inputs, sources, others, document: outcome.layer.clone() })
    }

    /// The policy with `document` in the place of the document's layer; none where it is refused.
    #[must_use]
    pub fn compile(&self, document: Layer) -> Option<CompiledPolicy> {
        let mut layers = self.others.clone();
        layers.push(document);
        let (merged, found) = merge::merge(&layers, &self.sources, self.inputs.catalogue);
        if !found.is_empty() {
            return None;
        }
        let resolved = merged.resolved;
        let written = resolved.base_dir.as_ref().map(|(dir, _)| dir.clone());
        let base_dir = (self.inputs.base_dir.or(written.as_deref()).or(self.inputs.default_base_dir))
            .unwrap_or(DEFAULT_BASE_DIR);
        let options = Options {
            base_dir,
            revision: "",
            lookup: self.inputs.lookup,
            base_values: self.inputs.base_values,
        };
        compile::compile(resolved, &options).ok()
    }
}

/// Everything that a policy says, by endpoint and key: the value of a replacing key, the union of an accumulating one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect(Vec<Vec<(Key, Said)>>);

/// A value without its places. The order of a list says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    One(ResolvedValue),
    Set(Vec<String>),
}

impl Said {
    /// A value without its places.
    pub(crate) fn of(value: &ResolvedValue) -> Self {
        match value {
            ResolvedValue::List(list) => Self::Set(set(list.values())),
            _ => Self::One(value.clone()),
        }
    }
}

impl Effect {
    /// What `policy` says.
    #[must_use]
    pub fn of(policy: &CompiledPolicy, catalogue: &Catalogue) -> Self {
        let resolved = policy.resolved();
        let endpoint = |endpoint: EndpointIx| {
            let accepted = catalogue.accepts(endpoint);
            let keys = accepted.iter();
            keys.filter_map(|key| Some((key, said(resolved, catalogue, policy.base_dir(), endpoint, key)?)))
                .collect()
        };
        Self(catalogue.iter().map(endpoint).collect())
    }
}

pub(crate) fn said(
    resolved: &Resolved,
    catalogue: &Catalogue,
    base_dir: &str,
    endpoint: EndpointIx,
    key: Key,
) -> Option<Said> {
    let candidates = resolved.candidates(endpoint, key);
    if KEYS.get(key.index())?.law == MergeLaw::Accumulate {
        let statements = candidates.iter().filter_map(|at| resolved.statement(*at));
        let lists = statements.filter_map(|said| match &said.value {
            ResolvedValue::List(list) => Some(list.values()),
            _ => None,
        });
        let set = set(lists.flatten());
        return (!set.is_empty()).then_some(Said::Set(set));
    }
    let value = match resolved.winner(endpoint, key) {
        Some(winner) => winner.value.clone(),
        None => base(catalogue, base_dir, endpoint, key)?.0,
    };
    Some(Said::of(&value))
}

fn set<'e>(elements: impl IntoIterator<Item = &'e str>) -> Vec<String> {
    let mut values: Vec<String> = elements.into_iter().map(str::to_owned).collect();
    values.sort_unstable();
    values.dedup();
    values
}
