//! Which endpoints a rule speaks of, and a selector read back from what a rule prints.

use crate::endpoint::{Catalogue, EndpointId, Group, IdGlob};
use crate::layer::{Selector, Specificity};
use crate::resolved::EndpointIx;

impl Selector {
    /// Reads a selector as it prints, at the specificity that it is known to have. `None` where the text names nothing
    /// of this catalogue.
    #[must_use]
    pub fn read(specificity: Specificity, text: &str, catalogue: &Catalogue) -> Option<Self> {
        match specificity {
            Specificity::Exact => EndpointId::from_name(text)
                .map(Self::Exact)
                .or_else(|| catalogue.resolve(text).map(|_| Self::Custom(text.to_owned()))),
            Specificity::Group => Group::from_name(text.strip_prefix("group:")?).map(Self::Group),
            Specificity::Glob => IdGlob::new(text).is_ok().then(|| Self::Glob(text.to_owned())),
            Specificity::Defaults => (text == "@defaults").then_some(Self::Defaults),
        }
    }

    /// Whether it passes core endpoints over. What is always open is governed by rules that name it or its group.
    #[must_use]
    pub const fn passes_core_over(&self) -> bool {
        matches!(self, Self::Glob(_) | Self::Defaults)
    }

    /// The endpoints that a rule with this selector governs, in catalogue order.
    #[must_use]
    pub fn governs(&self, catalogue: &Catalogue) -> Vec<EndpointIx> {
        let mut endpoints = catalogue.matching(self);
        if self.passes_core_over() {
            endpoints.retain(|endpoint| !catalogue.is_core(*endpoint));
        }
        endpoints
    }
}
