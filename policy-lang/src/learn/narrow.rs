//! What remains of today's policy: the entries that calls touched, and the scopes that they needed.

use super::ByEndpoint;
use crate::endpoint::{Catalogue, Key};
use crate::explain::absolute;
use crate::paths::pattern::is_glob;
use crate::policy::CompiledPolicy;
use crate::resolved::{EndpointIx, ResolvedToken};
use crate::scope::{ScopeNeed, ScopeSet};
use crate::variant::{Said, said};
use std::collections::{BTreeMap, BTreeSet};

/// The most paths of one endpoint that are named one by one; past it their directories are.
const PATHS: usize = 24;

/// A policy that is to be written.
#[derive(Debug, Default)]
pub(super) struct Narrowed {
    pub(super) endpoints: BTreeMap<EndpointIx, Lists>,
    /// None where today's policy has no tokens.
    pub(super) tokens: Option<Vec<ResolvedToken>>,
    pub(super) unused_tokens: Vec<String>,
    pub(super) unused_scopes: Vec<(String, Vec<String>)>,
    pub(super) unused_entries: Vec<(String, Key, Vec<String>)>,
}

/// Lists of one endpoint that replace today's.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) paths: Option<Vec<String>>,
    pub(super) programs: Option<Vec<String>>,
}

pub(super) fn narrow(today: &CompiledPolicy, catalogue: &Catalogue, calls: &ByEndpoint<'_>) -> Narrowed {
    let mut narrowed = Narrowed::default();
    for (endpoint, calls) in calls {
        let mut lists = Lists::default();
        let name = catalogue.name(*endpoint).to_owned();
        let accepts = catalogue.accepts(*endpoint);
        if accepts.contains(Key::PathsAllow) {
            let entries = list(today, catalogue, *endpoint, Key::PathsAllow).unwrap_or_default();
            let touched: BTreeSet<&str> = calls.iter().filter_map(|call| call.path.as_deref()).collect();
            if !touched.is_empty() {
                let (kept, used) = paths(&touched, &entries, today.base_dir());
                unused(&mut narrowed, &name, Key::PathsAllow, &entries, &used);
                lists.paths = Some(kept);
            }
        }
        if accepts.contains(Key::ParamsAllowCommands) {
            let run: BTreeSet<&str> = calls.iter().filter_map(|call| call.program.as_deref()).collect();
            let entries = list(today, catalogue, *endpoint, Key::ParamsAllowCommands);
            if !run.is_empty() {
                let kept = programs(&run, entries.as_deref());
                unused(&mut narrowed, &name, Key::ParamsAllowCommands, &entries.unwrap_or_default(), &kept);
                lists.programs = Some(kept);
            }
        }
        narrowed.endpoints.insert(*endpoint, lists);
    }
    tokens(today, catalogue, calls, &mut narrowed);
    narrowed
}

fn unused(narrowed: &mut Narrowed, name: &str, key: Key, entries: &[String], used: &[String]) {
    let idle: Vec<String> = entries.iter().filter(|entry| !used.contains(entry)).cloned().collect();
    if !idle.is_empty() {
        narrowed.unused_entries.push((name.to_owned(), key, idle));
    }
}

/// The list that holds today.
fn list(
    today: &CompiledPolicy,
    catalogue: &Catalogue,
    endpoint: EndpointIx,
    key: Key,
) -> Option<Vec<String>> {
    match said(today.resolved(), catalogue, today.base_dir(), endpoint, key)? {
        Said::Set(list) => Some(list),
        Said::One(_) => None,
    }
}

/// The paths to allow, and the entries of today that they stand for. What lies below a plain entry is named itself; what a
/// glob lets in keeps the glob.
fn paths(touched: &BTreeSet<&str>, entries: &[String], base_dir: &str) -> (Vec<String>, Vec<String>) {
    let (mut kept, mut used): (BTreeSet<String>, BTreeSet<String>) = (BTreeSet::new(), BTreeSet::new());
    let plain = |path: &str| entries.iter().find(|entry| beneath(path, entry, base_dir)).cloned();
    for path in touched {
        match plain(path) {
            Some(entry) => {
                kept.insert((*path).to_owned());
                used.insert(entry);
            }
            // Which glob it was is not known; all of them may be needed.
            None => {
                let globs = entries.iter().filter(|entry| is_glob(entry)).cloned();
                let globs: Vec<String> = globs.collect();
                kept.extend(globs.clone());
                used.extend(globs);
            }
        }
    }
    if kept.len() > PATHS {
        let directory = |path: &String| {
            let above = path
                .rsplit_once('/')
                .map(|(above, _)| above.to_owned())
                .filter(|above| plain(above).is_some());
            above.unwrap_or_else(|| path.clone())
        };
        kept = kept.iter().map(directory).collect();
    }
    // What lies below another entry needs no entry of its own.
    let all: Vec<String> = kept.into_iter().collect();
    let covered = |path: &String| all.iter().any(|other| other != path && beneath(path, other, base_dir));
    (all.iter().filter(|path| !covered(path)).cloned().collect(), used.into_iter().collect())
}

/// The programs to allow: those of today's list that were run, by name or path; where there is no list, those that ran.
fn programs(run: &BTreeSet<&str>, entries: Option<&[String]>) -> Vec<String> {
    let Some(entries) = entries else { return run.iter().map(|program| (*program).to_owned()).collect() };
    let base = |program: &str| program.rsplit('/').next().unwrap_or_default().to_owned();
    let ran = |entry: &&String| {
        run.iter()
            .any(|program| *program == entry.as_str() || (!entry.contains('/') && base(program) == **entry))
    };
    entries.iter().filter(ran).cloned().collect()
}

fn tokens(today: &CompiledPolicy, catalogue: &Catalogue, calls: &ByEndpoint<'_>, narrowed: &mut Narrowed) {
    let Some(declared) = today.resolved().tokens.as_deref() else { return };
    let mut kept = Vec::new();
    for token in declared {
        let mut needed: BTreeSet<String> = BTreeSet::new();
        let mut seen = false;
        for (endpoint, calls) in calls {
            for call in calls.iter().filter(|call| call.identity.as_deref() == Some(&token.id)) {
                seen = true;
                needed.extend(needs(today, catalogue, *endpoint, call.command.as_deref()));
            }
        }
        if !seen {
            narrowed.unused_tokens.push(token.id.clone());
            continue;
        }
        if needed.is_empty() {
            needed.insert("core:read".to_owned());
        }
        let held = ScopeSet::parse(token.scopes.iter().map(String::as_str)).unwrap_or_default();
        let idle: Vec<String> = held.names().into_iter().filter(|scope| !needed.contains(scope)).collect();
        if !idle.is_empty() {
            narrowed.unused_scopes.push((token.id.clone(), idle));
        }
        kept.push(ResolvedToken { scopes: needed.into_iter().collect(), ..token.clone() });
    }
    narrowed.tokens = Some(kept);
}

/// The scopes that a call needed, those that everybody holds left out.
fn needs(
    today: &CompiledPolicy,
    catalogue: &Catalogue,
    endpoint: EndpointIx,
    command: Option<&str>,
) -> Vec<String> {
    let Some(asked) = list(today, catalogue, endpoint, Key::Scopes) else { return Vec::new() };
    let own = asked.into_iter().map(|scope| match command {
        Some(command) => scope.replace("{name}", command),
        None => scope.replace(":{name}", ""),
    });
    let everybody = ScopeSet::default();
    own.filter(|scope| {
        ScopeNeed::parse([scope.as_str()]).is_ok_and(|need| need.missing(&everybody, None).is_some())
    })
    .collect()
}

/// Whether a path without a glob is, or lies below, what an allowed entry without one names.
fn beneath(path: &str, entry: &str, base_dir: &str) -> bool {
    if is_glob(path) || is_glob(entry) {
        return false;
    }
    let whole = |path: &str| {
        let absolute = absolute(Key::PathsAllow, path, base_dir);
        absolute.trim_end_matches('/').to_owned()
    };
    let (path, entry) = (whole(path), whole(entry));
    path.strip_prefix(&*entry).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
