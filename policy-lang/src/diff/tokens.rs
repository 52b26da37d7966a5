//! `auth.tokens`: identities that came, went, or hold something else.

use super::change::{Aspect, Cause, Change, Evidence, Said, Subject, Verdict};
use super::witness::Witness;
use crate::endpoint::{Group, Scope};
use crate::policy::{CompiledPolicy, Principal};
use crate::scope::ScopeSet;

const NO_LIST: &str =
    "who may call where a policy has no `auth.tokens` depends on whether the server has a token of its own";
const SECRET: &str = "another secret proves this identity";
const UNASKED: &str = "no open endpoint asks for it; a registered command with scopes of its own may";

/// What changed.
pub(super) fn compare(old: &CompiledPolicy, new: &CompiledPolicy) -> Vec<Change> {
    let (one, other) = match (old.principals(), new.principals()) {
        (None, None) => return Vec::new(),
        (None, Some(_)) | (Some(_), None) => return vec![list(old, new)],
        (Some(one), Some(other)) => (one, other),
    };
    let find = |list: &[Principal], id: &str| list.iter().position(|known| *known.id == *id);
    let mut changes = Vec::new();
    for its in one {
        let after = find(other, &its.id).and_then(|at| other.get(at));
        changes.extend(identity(old, new, Some(its), after));
    }
    for its in other.iter().filter(|its| find(one, &its.id).is_none()) {
        changes.extend(identity(old, new, None, Some(its)));
    }
    changes
}

/// The list itself came or went.
fn list(old: &CompiledPolicy, new: &CompiledPolicy) -> Change {
    let said = |policy: &CompiledPolicy| Said {
        value: policy.principals().map(|list| match list.len() {
            1 => "one token".to_owned(),
            count => format!("{count} tokens"),
        }),
        at: policy.principals().and_then(|list| list.first()?.at),
        ..Said::default()
    };
    let comes = new.principals().is_some_and(|list| !list.is_empty());
    let goes = new.principals().is_none();
    Change {
        subject: Subject::Tokens,
        aspect: Aspect::Present,
        verdict: Verdict::of(comes || goes, true),
        opening: (comes || goes).then_some(Evidence::Unproven(NO_LIST)),
        closing: Some(Evidence::Unproven(NO_LIST)),
        old: said(old),
        new: said(new),
        cause: Cause::Author,
    }
}

fn identity(
    old: &CompiledPolicy,
    new: &CompiledPolicy,
    before: Option<&Principal>,
    after: Option<&Principal>,
) -> Vec<Change> {
    let said = |its: Option<&Principal>| Said {
        value: its.map(|its| its.scopes.names().join(", ")),
        at: its.and_then(|its| its.at),
        ..Said::default()
    };
    let Some(known) = before.or(after) else { return Vec::new() };
    let change = |aspect, opening: Option<Evidence>, closing: Option<Evidence>| Change {
        subject: Subject::Identity(known.id.to_string()),
        aspect,
        verdict: Verdict::of(opening.is_some(), closing.is_some()),
        opening,
        closing,
        old: said(before),
        new: said(after),
        cause: Cause::Author,
    };
    let aspect = if before.is_some() && after.is_some() { Aspect::Scopes } else { Aspect::Present };
    let opening = after.and_then(|after| gain(old, new, before, after));
    let closing = before.and_then(|before| gain(new, old, after, before));
    let mut changes = Vec::new();
    if opening.is_some() || closing.is_some() {
        changes.push(change(aspect, opening, closing));
    }
    if before.zip(after).is_some_and(|(before, after)| before.secret != after.secret) {
        let unproven = || Some(Evidence::Unproven(SECRET));
        changes.push(change(Aspect::Secret, unproven(), unproven()));
    }
    changes
}

/// A call that `after` may make under `to` for what it holds, and `before` not under `from`.
fn gain(
    from: &CompiledPolicy,
    to: &CompiledPolicy,
    before: Option<&Principal>,
    after: &Principal,
) -> Option<Evidence> {
    let nothing = ScopeSet::default();
    let held = before.map_or(&nothing, |before| &before.scopes);
    if before.is_some() && covers(held, &after.scopes) {
        return None;
    }
    let names = after.scopes.names();
    let commands = names.iter().filter_map(|name| name.strip_prefix("commands:run:")).map(str::to_owned);
    let commands: Vec<String> = commands.chain(["example".to_owned()]).collect();
    // Discovery is held by everyone and shows nothing of what a token is for.
    let core = |decl: &crate::endpoint::EndpointDecl| decl.group == Group::Core;
    let mut endpoints: Vec<_> =
        to.endpoints().map(|(ix, rules)| (to.decl(ix).is_some_and(core), ix, rules)).collect();
    endpoints.sort_by_key(|(core, ix, _)| (*core, *ix));
    for (_, ix, rules) in endpoints {
        let Some(id) = to.name(ix) else { continue };
        for name in &commands {
            let asked =
                rules.scopes.value.names().iter().any(|asked| asked == Scope::CommandsRunName.as_str());
            let witness = Witness {
                identity: Some(after.id.to_string()),
                command_name: asked.then(|| name.clone()),
                ..Witness::of(id)
            };
            let lacks = before.is_none() || {
                let under = super::witness::endpoint(from, id).and_then(|ix| from.endpoint(ix));
                under.is_some_and(|rules| {
                    rules.scopes.value.missing(held, witness.command_name.as_deref()).is_some()
                })
            };
            if lacks && witness.ask(to).allowed && !witness.ask(from).allowed {
                return Some(Evidence::Witness(Box::new(witness)));
            }
            if !asked {
                break;
            }
        }
    }
    Some(Evidence::Unproven(UNASKED))
}

/// Whether whoever holds `wide` holds all of `narrow`.
fn covers(wide: &ScopeSet, narrow: &ScopeSet) -> bool {
    if wide.is_all() || narrow.is_all() {
        return wide.is_all();
    }
    let fixed = Scope::ALL.into_iter().all(|scope| wide.holds(scope) || !narrow.holds(scope));
    let names = narrow.names();
    let mut commands = names.iter().filter_map(|name| name.strip_prefix("commands:run:"));
    fixed && commands.all(|name| wide.holds_command(name))
}
