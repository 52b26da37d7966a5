//! `scopes`: the least that satisfies one side, put before the other. Whoever holds more satisfies both as well.

use crate::diff::view::{Opening, View};
use crate::diff::witness::Witness;
use crate::endpoint::{Key, Scope};

pub(super) fn openings(from: &View<'_>, to: &View<'_>, out: &mut Vec<Opening>) {
    let template = Scope::CommandsRunName.as_str();
    let (asked, others) = (to.rules.scopes.value.names(), from.rules.scopes.value.names());
    let held = |extra: Option<String>| {
        let fixed = asked.iter().filter(|name| *name != template).cloned();
        fixed.chain(extra).collect::<Vec<_>>()
    };
    let mut holders = Vec::new();
    if asked.iter().any(|name| name == template) {
        let name = fresh(&asked, &others);
        holders.push((held(Some(format!("commands:run:{name}"))), Some(name)));
        holders.push((held(Some(Scope::CommandsRun.as_str().to_owned())), None));
    } else {
        let name = others.iter().any(|name| name == template).then(|| fresh(&asked, &others));
        holders.push((held(None), name));
    }
    let shown = holders.into_iter().find_map(|(scopes, command_name)| {
        let witness = Witness { scopes: Some(scopes), command_name, ..to.call() };
        Opening::shown(Key::Scopes, witness, from, to)
    });
    out.extend(shown);
}

/// The name of a command that neither side speaks of.
fn fresh(asked: &[String], others: &[String]) -> String {
    let taken = |name: &str| {
        let scope = format!("commands:run:{name}");
        asked.contains(&scope) || others.contains(&scope)
    };
    let more = (2..).map(|number| format!("example-{number}"));
    std::iter::once("example".to_owned()).chain(more).find(|name| !taken(name)).unwrap_or_default()
}
