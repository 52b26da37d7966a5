//! What each family of keys permits, compared: one file a family. Each answers one question, what `to` permits that
//! `from` refuses, and is asked it in both directions.
//!
//! Gates judge apart from each other, so a call that asks about one family alone shows what that family changed, and
//! where a call is refused by several, each of them is found. Only paths and extensions judge the same text, and are
//! compared together.

mod amounts;
mod commands;
mod hunt;
mod lists;
mod paths;
mod scopes;
mod urls;
mod variables;

use super::said::differs;
use super::view::{Opening, View};
use crate::automata::Machines;
use crate::endpoint::Key;

/// A family: its keys, and the comparison.
type Family = (&'static [Key], fn(&View<'_>, &View<'_>, &mut Vec<Opening>));

/// The families that are compared by one text at a time, in no order that matters.
const FAMILIES: [Family; 11] = [
    (&[Key::Scopes], scopes::openings),
    (&[Key::Audit], amounts::audit),
    (&amounts::LIMITS, amounts::limits),
    (&[Key::ParamsOverwrite], amounts::overwrite),
    (&[Key::PathsSymlinks], amounts::symlinks),
    (&[Key::ParamsLanguages], lists::languages),
    (&[Key::ParamsShells], lists::shells),
    (&[Key::ParamsAllowedSignals], lists::signals),
    (&[Key::ParamsAllowPorts, Key::ParamsDenyPorts], lists::ports),
    (&[Key::ParamsAllowCommands, Key::ParamsDenyCommands], commands::openings),
    (&[Key::ParamsUrlAllow, Key::ParamsUrlDeny, Key::ParamsBlockPrivateNetworks], urls::openings),
];

/// The keys that speak of variables.
const VARIABLES: [Key; 3] = [Key::ParamsAllowVars, Key::ParamsDenyVars, Key::ParamsEnvDeny];

/// What one comparison keeps between endpoints.
#[derive(Debug, Default)]
pub(super) struct Memory {
    machines: Machines,
    paths: paths::Memory,
}

/// What `new` permits that `old` refuses, and the other way round. Both endpoints answer.
pub(super) fn compare(old: &View<'_>, new: &View<'_>, memory: &mut Memory) -> [Vec<Opening>; 2] {
    let (mut opened, mut closed) = (Vec::new(), Vec::new());
    for (keys, openings) in FAMILIES {
        if keys.iter().any(|key| differs(old, new, *key)) {
            openings(old, new, &mut opened);
            openings(new, old, &mut closed);
        }
    }
    let Memory { machines, paths } = memory;
    if VARIABLES.iter().any(|key| differs(old, new, *key)) {
        variables::openings(old, new, machines, &mut opened);
        variables::openings(new, old, machines, &mut closed);
    }
    paths::compare(old, new, paths, machines, &mut opened, &mut closed);
    [opened, closed]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_compared() {
        let families = FAMILIES.iter().flat_map(|(keys, _)| *keys).chain(&VARIABLES);
        let compared: Vec<&Key> = families.chain(&paths::PATHS).chain(&paths::EXTENSIONS).collect();
        for key in Key::ALL.iter().filter(|key| **key != Key::Enabled) {
            assert!(compared.contains(&key), "a change of `{}` would go unseen", key.as_str());
        }
    }
}
