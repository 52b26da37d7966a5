//! A resolved policy written down statement by statement, for tests and benches of what comes after merging.

use policy_lang::endpoint::{EndpointId, Key};
use policy_lang::layer::{LayerKind, Specificity};
use policy_lang::resolved::{
    List, Resolved, ResolvedKey, ResolvedStatement, ResolvedValue, Rule, RuleIx, StatementIx,
};

/// A resolved policy in the making: the later statement about an endpoint's key is the one of lower precedence.
#[derive(Default)]
pub(crate) struct Said(Resolved);

impl Said {
    /// Adds a rule of the policy layer with an exact selector.
    pub(crate) fn rule(&mut self, endpoint: EndpointId) -> RuleIx {
        self.0.rules.push(Rule {
            name: format!("policy:endpoints.{}", endpoint.as_str()),
            layer: LayerKind::Policy,
            selector: endpoint.as_str().to_owned(),
            specificity: Specificity::Exact,
            at: None,
        });
        RuleIx(u32::try_from(self.0.rules.len() - 1).unwrap())
    }

    /// Adds a statement of `rule` about `endpoint`.
    pub(crate) fn say(&mut self, endpoint: EndpointId, rule: RuleIx, key: Key, value: ResolvedValue) {
        let ix = StatementIx(u32::try_from(self.0.statements.len()).unwrap());
        self.0.statements.push(ResolvedStatement { key, value, rule, at: None });
        let at = endpoint.index();
        if self.0.endpoints.len() <= at {
            self.0.endpoints.resize(at + 1, Vec::new());
        }
        let keys = &mut self.0.endpoints[at];
        match keys.binary_search_by_key(&key, |known| known.key) {
            Ok(known) => keys[known].statements.push(ix),
            Err(place) => keys.insert(place, ResolvedKey { key, statements: vec![ix] }),
        }
    }

    /// The resolved policy.
    pub(crate) fn resolved(self) -> Resolved {
        self.0
    }
}

/// A list value.
pub(crate) fn list(entries: impl IntoIterator<Item = impl AsRef<str>>) -> ResolvedValue {
    ResolvedValue::List(List::of(entries))
}
