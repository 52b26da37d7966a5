//! The default layer: the opt-in groups are closed. Base values of the catalogue are no rules and stand below it.

use super::switch;
use crate::endpoint::{DefaultState, GROUPS};
use crate::layer::{Layer, LayerKind};

/// `enabled: false` at group specificity for every opt-in group.
#[must_use]
pub fn layer() -> Layer {
    let opt_in = GROUPS.iter().filter(|decl| decl.default == DefaultState::OptIn);
    let blocks =
        opt_in.map(|decl| switch(decl.group, format!("opt-in:{}", decl.name), false, None)).collect();
    Layer { blocks, ..Layer::empty(LayerKind::Default) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closes_the_opt_in_groups_and_nothing_else() {
        let layer = layer();
        let names: Vec<_> = layer.blocks.iter().map(|block| block.name.as_str()).collect();
        assert_eq!(names, ["opt-in:dev_tools", "opt-in:browser", "opt-in:agents"]);
        assert!(layer.blocks.iter().all(|block| block.statements.len() == 1));
    }
}
