//! Lists over small worlds, gone through: languages, shells, signals, ports.

use crate::diff::view::{Opening, View};
use crate::diff::witness::Witness;
use crate::endpoint::Key;
use crate::matchers::port::{FIRST_UNPRIVILEGED, PortRules};
use crate::matchers::words::WordList;
use std::collections::BTreeSet;

pub(super) fn languages(from: &View<'_>, to: &View<'_>, out: &mut Vec<Opening>) {
    let lists = [from.rules.params.languages.as_deref(), to.rules.params.languages.as_deref()];
    out.extend(words(lists, "other").into_iter().find_map(|word| {
        let witness = Witness { language: Some(word), ..to.call() };
        Opening::shown(Key::ParamsLanguages, witness, from, to)
    }));
}

pub(super) fn shells(from: &View<'_>, to: &View<'_>, out: &mut Vec<Opening>) {
    let lists = [from.rules.params.shells.as_deref(), to.rules.params.shells.as_deref()];
    out.extend(words(lists, "/bin/other").into_iter().find_map(|word| {
        let witness = Witness { shell: Some(word), ..to.call() };
        Opening::shown(Key::ParamsShells, witness, from, to)
    }));
}

/// Every word that a side names, and one that none does.
fn words(lists: [Option<&WordList>; 2], other: &str) -> BTreeSet<String> {
    let mut words: BTreeSet<String> =
        lists.into_iter().flatten().flat_map(WordList::words).map(str::to_owned).collect();
    let mut fresh = other.to_owned();
    while words.contains(&fresh) {
        fresh.push('-');
    }
    words.insert(fresh);
    words
}

pub(super) fn signals(from: &View<'_>, to: &View<'_>, out: &mut Vec<Opening>) {
    out.extend((0..=u8::MAX).find_map(|signal| {
        let witness = Witness { signal: Some(signal), ..to.call() };
        Opening::shown(Key::ParamsAllowedSignals, witness, from, to)
    }));
}

pub(super) fn ports(from: &View<'_>, to: &View<'_>, out: &mut Vec<Opening>) {
    let (Some(old), Some(new)) = (&from.rules.params.ports, &to.rules.params.ports) else { return };
    let turning: BTreeSet<u16> = turns(old).chain(turns(new)).collect();
    let open: Vec<u16> = turning.into_iter().filter(|port| new.refuses(*port).is_none()).collect();
    // One key of the other side at a time: what refuses then is that key.
    let allow = PortRules { allow: old.allow.clone(), deny: new.deny.clone() };
    let deny = PortRules { allow: new.allow.clone(), deny: old.deny.clone() };
    for (key, rules) in [(Key::ParamsAllowPorts, allow), (Key::ParamsDenyPorts, deny)] {
        let port = open.iter().find(|port| rules.refuses(**port).is_some());
        let witness = port.map(|port| Witness { port: Some(*port), ..to.call() });
        out.extend(witness.and_then(|witness| Opening::shown(key, witness, from, to)));
    }
}

/// The ports at which the answer can turn: the first of each range and the first after it.
fn turns(rules: &PortRules) -> impl Iterator<Item = u16> {
    let allowed = rules.allow.iter().flat_map(|allow| &allow.entries);
    let ranges = allowed.chain(rules.deny.iter().map(|(range, _)| range));
    ranges
        .flat_map(|range| [Some(*range.start()), range.end().checked_add(1)])
        .flatten()
        .chain([1, FIRST_UNPRIVILEGED])
}
