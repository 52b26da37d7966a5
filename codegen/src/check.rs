//! The rules across rows: names are unique and known, doors make sense, base values fit their keys.
//!
//! The result is always a [`Table`]: what could not be resolved is left out of it and has been reported.

mod doors;
mod endpoints;
mod names;
mod table;
mod values;

pub(crate) use names::{Name, camel};
pub(crate) use table::{Bundle, Door, Endpoint, Group, Key, Scope, Table};
pub(crate) use values::Base;

use crate::decl::Declaration;
use crate::error::Faults;
use names::{Candidates, Names};

/// The group that can never be closed.
const CORE: &str = "core";

/// A set of keys is one machine word.
const MOST_KEYS: usize = 64;

/// A limit class, while endpoints are resolved.
#[derive(Debug)]
struct Class {
    name: String,
    base: Vec<(usize, Base)>,
}

/// A key set, while endpoints are resolved.
#[derive(Debug)]
struct KeySet {
    name: String,
    keys: Vec<usize>,
}

/// Applies every rule.
pub(crate) fn check(declared: &Declaration, faults: &mut Faults) -> Table {
    let mut table = Table::default();
    groups(declared, &mut table, faults);
    scopes(declared, &mut table, faults);
    let sets = keys(declared, &mut table, faults);
    let classes = classes(declared, &table, faults);
    table.endpoints = endpoints::check(declared, &table, &classes, &sets, faults);
    doors::unique(declared, faults);
    table
}

fn groups(declared: &Declaration, table: &mut Table, faults: &mut Faults) {
    let mut names = Names::new("group");
    for row in &declared.groups {
        let Some(name) = names.add(row.name.as_ref(), faults) else { continue };
        let default = row.default.as_ref().map_or("on", |at| at.value.as_str());
        if let (CORE, "opt-in", Some(at)) = (name.text.as_str(), default, &row.default) {
            faults
                .at(&at.span, format!("the group `{CORE}` can not be closed by default"))
                .label("must be `on`");
        }
        table.groups.push(Group { name, default: default.to_owned(), summary: row.summary.clone() });
    }
}

/// Scopes and bundles: a token lists both alike, so that they share their names.
fn scopes(declared: &Declaration, table: &mut Table, faults: &mut Faults) {
    let mut names = Names::new("scope");
    for row in &declared.scopes {
        let Some(name) = names.add(row.name.as_ref(), faults) else { continue };
        table.scopes.push(Scope { name, summary: row.summary.clone() });
    }
    names.now("bundle");
    let mut bundles = Vec::new();
    for row in &declared.bundles {
        let Some(name) = names.add(row.name.as_ref(), faults) else { continue };
        let known = known_scopes(declared, table);
        let scopes = row.scopes.iter().filter_map(|scope| known.find(scope, faults)).collect();
        bundles.push(Bundle { name: name.text, scopes, summary: row.summary.clone() });
    }
    table.bundles = bundles;
}

/// Keys and key sets: `accepts` lists both alike, so that they share their names.
fn keys(declared: &Declaration, table: &mut Table, faults: &mut Faults) -> Vec<KeySet> {
    let mut names = Names::new("key");
    for row in &declared.keys {
        let Some(name) = names.add(row.name.as_ref(), faults) else { continue };
        if let (MOST_KEYS, Some(at)) = (table.keys.len(), &row.name) {
            faults.at(&at.span, format!("more than {MOST_KEYS} keys")).label("one too many");
        }
        table.keys.push(Key {
            name,
            kind: row.kind.as_ref().map(|at| at.value.clone()),
            law: row.law.as_ref().map_or_else(|| "replace".to_owned(), |at| at.value.clone()),
            everywhere: row.everywhere,
            summary: row.summary.clone(),
        });
    }
    table.keys.truncate(MOST_KEYS);
    names.now("key set");
    let known = known_keys(declared, table, &[]);
    let mut sets = Vec::new();
    for row in &declared.key_sets {
        let Some(name) = names.add(row.name.as_ref(), faults) else { continue };
        let keys = row.keys.iter().filter_map(|key| known.find(key, faults)).collect();
        sets.push(KeySet { name: name.text, keys });
    }
    sets
}

fn classes(declared: &Declaration, table: &Table, faults: &mut Faults) -> Vec<Class> {
    let mut names = Names::new("limit class");
    let mut classes = Vec::new();
    for row in &declared.classes {
        let Some(name) = names.add(row.name.as_ref(), faults) else { continue };
        let base = values::resolve("limits", &row.limits, table, declared, faults);
        classes.push(Class { name: name.text, base });
    }
    classes
}

fn known_groups<'a>(declared: &Declaration, table: &'a Table) -> Candidates<'a> {
    let whole = declared.groups.iter().all(|row| row.name.is_some()) && !declared.groups.is_empty();
    Candidates::new("group", table.groups.iter().map(|row| row.name.text.as_str()), whole)
}

fn known_scopes<'a>(declared: &Declaration, table: &'a Table) -> Candidates<'a> {
    let whole = declared.scopes.iter().all(|row| row.name.is_some()) && !declared.scopes.is_empty();
    Candidates::new("scope", table.scopes.iter().map(|row| row.name.text.as_str()), whole)
}

/// The keys, then the sets.
fn known_keys<'a>(declared: &Declaration, table: &'a Table, sets: &'a [KeySet]) -> Candidates<'a> {
    let keys = table.keys.iter().map(|row| row.name.text.as_str());
    Candidates::new("key", keys.chain(sets.iter().map(|set| set.name.as_str())), keys_are_whole(declared))
}

/// Whether every key and key set has its name.
fn keys_are_whole(declared: &Declaration) -> bool {
    let sets = declared.key_sets.iter().map(|row| &row.name);
    let mut names = declared.keys.iter().map(|row| &row.name).chain(sets);
    !declared.keys.is_empty() && names.all(Option::is_some)
}
