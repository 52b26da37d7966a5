//! The code layer: `enable_group` and `disable_group`, as the program that embeds the server calls them.

use super::switch;
use crate::endpoint::Group;
use crate::layer::{Layer, LayerKind};

/// One call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupSwitch {
    /// Which group.
    pub group: Group,
    /// `enable_group` or `disable_group`.
    pub enabled: bool,
}

/// `disable_group` was called for the core group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreDisabledError;

impl std::fmt::Display for CoreDisabledError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the group `core` cannot be disabled: liveness and discovery stay open")
    }
}

impl std::error::Error for CoreDisabledError {}

/// The layer of these calls, in the order they were made: of two for one group the later holds.
///
/// # Errors
/// Where the core group would be closed.
pub fn layer(switches: &[GroupSwitch]) -> Result<Layer, CoreDisabledError> {
    if switches.iter().any(|call| call.group == Group::Core && !call.enabled) {
        return Err(CoreDisabledError);
    }
    let last = |group| switches.iter().rev().find(move |call: &&GroupSwitch| call.group == group);
    let blocks = Group::ALL.into_iter().filter_map(last).map(|call| {
        let verb = if call.enabled { "enable_group" } else { "disable_group" };
        switch(call.group, format!("{verb}:{}", call.group.as_str()), call.enabled, None)
    });
    Ok(Layer { blocks: blocks.collect(), ..Layer::empty(LayerKind::Code) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn call(group: Group, enabled: bool) -> GroupSwitch {
        GroupSwitch { group, enabled }
    }

    #[test]
    fn the_later_call_for_a_group_holds() {
        let calls = [call(Group::Browser, true), call(Group::Process, false), call(Group::Browser, false)];
        let layer = layer(&calls).unwrap();
        let names: Vec<_> = layer.blocks.iter().map(|block| block.name.as_str()).collect();
        assert_eq!(names, ["disable_group:process", "disable_group:browser"]);
    }

    #[test]
    fn core_is_refused_whatever_follows() {
        let calls = [call(Group::Core, false), call(Group::Core, true)];
        assert_eq!(layer(&calls).unwrap_err(), CoreDisabledError);
        assert!(layer(&[call(Group::Core, true)]).is_ok());
    }
}
