//! One endpoint under one policy: what the families compare.

use super::change::Evidence;
use super::witness::Witness;
use crate::endpoint::{EndpointDecl, Key};
use crate::policy::{CompiledPolicy, EndpointPolicy};
use crate::resolved::{EndpointIx, ResolvedStatement};

/// An endpoint as a policy has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) policy: &'a CompiledPolicy,
    pub(super) id: &'a str,
    pub(super) ix: EndpointIx,
    pub(super) rules: &'a EndpointPolicy,
}

/// A key under which `to` permits what `from` refuses.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) key: Key,
    pub(super) evidence: Evidence,
}

impl<'a> View<'a> {
    pub(super) fn decl(&self) -> Option<&'static EndpointDecl> {
        self.policy.decl(self.ix)
    }

    /// What rules say of a key, strongest first.
    pub(super) fn statements(&self, key: Key) -> impl Iterator<Item = &'a ResolvedStatement> + use<'a> {
        let resolved = self.policy.resolved();
        resolved.candidates(self.ix, key).iter().filter_map(|at| resolved.statement(*at))
    }
}

impl Opening {
    /// What is found where `from` refuses the witness and `to` permits it; both are asked.
    pub(super) fn shown(key: Key, witness: Witness, from: &View<'_>, to: &View<'_>) -> Option<Self> {
        let flips = to.agrees(&witness) && !from.agrees(&witness);
        flips.then(|| Self { key, evidence: Evidence::Witness(Box::new(witness)) })
    }

    pub(super) const fn unproven(key: Key, why: &'static str) -> Self {
        Self { key, evidence: Evidence::Unproven(why) }
    }
}

impl View<'_> {
    pub(super) fn agrees(&self, witness: &Witness) -> bool {
        witness.ask(self.policy).allowed
    }

    /// A call of this endpoint.
    pub(super) fn call(&self) -> Witness {
        Witness::of(self.id)
    }
}
