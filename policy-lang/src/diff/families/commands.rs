//! `allow_commands` and `deny_commands`, by the names that a call gives.
//!
//! An allow entry fits its own text alone, a deny entry every text with its base name: the entries themselves, each
//! denied name in a place of its own and a name that nobody speaks of stand for every text there is. Which files the
//! names mean is known where the server runs: a denied file that is named no longer may have been met by another name,
//! so that its removal is never taken for no change.

use crate::decide::CommandQuery;
use crate::diff::view::{Opening, View};
use crate::diff::witness::Witness;
use crate::endpoint::Key;
use crate::matchers::command::{CommandRules, base_name};
use std::collections::BTreeSet;

const FILES: &str = "by name nothing changes; which files the names mean is known where the server runs";

pub(super) fn openings(from: &View<'_>, to: &View<'_>, out: &mut Vec<Opening>) {
    let none = CommandRules::default();
    let old = from.rules.params.commands.as_deref().unwrap_or(&none);
    let new = to.rules.params.commands.as_deref().unwrap_or(&none);
    let refuses = |rules: &CommandRules, text: &str| {
        rules.refuses(&CommandQuery { argv0: text, found: None, target: None }).is_some()
    };
    let texts = texts(old, new);
    let open: Vec<&String> = texts.iter().filter(|text| !refuses(new, text)).collect();
    let allow = CommandRules { allow: old.allow.clone(), deny: new.deny.clone() };
    let deny = CommandRules { allow: new.allow.clone(), deny: old.deny.clone() };
    for (key, rules) in [(Key::ParamsAllowCommands, allow), (Key::ParamsDenyCommands, deny)] {
        let shown = open.iter().filter(|text| refuses(&rules, text)).find_map(|text| {
            let witness = Witness { command: Some((**text).clone()), ..to.call() };
            Opening::shown(key, witness, from, to)
        });
        let dropped = || {
            let kept = |written: &str| new.deny.iter().any(|(entry, _)| entry.written() == written);
            key == Key::ParamsDenyCommands && old.deny.iter().any(|(entry, _)| !kept(entry.written()))
        };
        match shown {
            Some(opening) => out.push(opening),
            None if dropped() => out.push(Opening::unproven(key, FILES)),
            None => {}
        }
    }
}

/// Texts that stand for all, those that are written first.
fn texts(old: &CommandRules, new: &CommandRules) -> Vec<String> {
    let rules = [new, old];
    let allowed = rules.iter().flat_map(|rules| &rules.allow).flat_map(|allow| &allow.entries);
    let allowed: Vec<&str> = allowed.map(|entry| entry.written()).collect();
    let denied: Vec<&str> =
        rules.iter().flat_map(|rules| &rules.deny).map(|(entry, _)| entry.written()).collect();
    let names: BTreeSet<&str> = denied.iter().map(|written| base_name(written)).collect();
    let fresh = |begin: &str| {
        let taken = |text: &str| {
            allowed
                .iter()
                .chain(&denied)
                .any(|written| base_name(written).eq_ignore_ascii_case(base_name(text)))
        };
        let mut text = begin.to_owned();
        while taken(&text) {
            text.push('-');
        }
        text
    };
    let place = fresh("/elsewhere");
    let mut texts: Vec<String> = allowed.iter().chain(&denied).map(|text| (*text).to_owned()).collect();
    texts.extend(names.iter().map(|name| (*name).to_owned()));
    texts.extend(names.iter().map(|name| format!("{place}/{name}")));
    texts.extend([fresh("other"), fresh("/bin/other")]);
    texts
}
