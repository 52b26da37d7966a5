//! `paths.allow`, `paths.deny`, `paths.read_only` and the extensions of written names: one set of paths, compared as
//! automata over the bytes of a path, denials over its folded form.
//!
//! Endpoints that share both sides' rules share the answer.

mod covered;
mod entries;
mod guess;
mod sides;

use super::amounts::usual;
use super::hunt::{Goal, TOO_LARGE, hunt};
use crate::automata::Machines;
use crate::decide::Op;
use crate::diff::change::Evidence;
use crate::diff::said::differs;
use crate::diff::view::{Opening, View};
use crate::diff::witness::Witness;
use crate::endpoint::Key;
use covered::covered;
use entries::Entries;
use guess::guess;
use sides::{Both, Side};
use std::collections::HashMap;
use std::sync::Arc;

/// The keys that settle which paths are permitted.
pub(super) const PATHS: [Key; 3] = [Key::PathsAllow, Key::PathsDeny, Key::PathsReadOnly];
/// The keys that settle what a written file may be called.
pub(super) const EXTENSIONS: [Key; 2] = [Key::ParamsAllowExtensions, Key::ParamsDenyExtensions];

/// What was found for a pair of rules: by direction, the key with its path and operation, or why nothing is known.
type Found = [Vec<(Key, Result<(Vec<u8>, Op), &'static str>)>; 2];

/// Answers by the rules of both sides, extensions in writing, and the operations of the endpoint.
#[derive(Debug, Default)]
pub(super) struct Memory(HashMap<(usize, usize, String, Vec<Op>), Found>);

/// What the endpoint does to paths: the usual operation first, then what else a call of it can ask.
fn operations(view: &View<'_>) -> Vec<Op> {
    let usual = usual(view);
    let reads = view.decl().is_some_and(|decl| decl.scopes.iter().all(|scope| scope.ends_with(":read")));
    if reads {
        return vec![usual];
    }
    let mut all = vec![usual];
    all.extend([Op::Read, Op::Write, Op::Delete].into_iter().filter(|op| *op != usual));
    all
}

pub(super) fn compare(
    old: &View<'_>,
    new: &View<'_>,
    memory: &mut Memory,
    machines: &mut Machines,
    opened: &mut Vec<Opening>,
    closed: &mut Vec<Opening>,
) {
    let (Some(old_rules), Some(new_rules)) = (&old.rules.paths, &new.rules.paths) else { return };
    let moved = old.policy.base_dir() != new.policy.base_dir();
    let changed: Vec<Key> = PATHS
        .into_iter()
        .filter(|key| moved || differs(old, new, *key))
        .chain(EXTENSIONS.into_iter().filter(|key| differs(old, new, *key)))
        .collect();
    if changed.is_empty() {
        return;
    }
    let written = |view: &View<'_>| view.rules.params.extensions.as_ref().map(|rules| format!("{rules:?}"));
    let extensions = format!("{:?}{:?}", written(old), written(new));
    let ops = operations(new);
    let key = (Arc::as_ptr(old_rules) as usize, Arc::as_ptr(new_rules) as usize, extensions, ops.clone());
    let found = memory.0.entry(key).or_insert_with(|| search(old, new, &changed, &ops, machines));
    for ((found, out), (from, to)) in found.iter().zip([opened, closed]).zip([(old, new), (new, old)]) {
        for (key, answer) in found {
            out.extend(match answer {
                Ok((path, op)) => {
                    let witness = Witness { path: Some((path.clone(), *op)), ..to.call() };
                    Opening::shown(*key, witness, from, to)
                }
                Err(why) => Some(Opening::unproven(*key, why)),
            });
        }
    }
}

/// By what is written first, then by what the changed entries suggest; automata are made for what is left.
fn search(old: &View<'_>, new: &View<'_>, changed: &[Key], ops: &[Op], machines: &mut Machines) -> Found {
    let mut found: Found = [Vec::new(), Vec::new()];
    let (Ok(its), Ok(theirs)) = (Entries::of(old), Entries::of(new)) else {
        return found.map(|_| changed.iter().map(|key| (*key, Err(TOO_LARGE))).collect());
    };
    let mut left = Vec::new();
    for key in changed {
        let ways = [(0, (old, &its), (new, &theirs)), (1, (new, &theirs), (old, &its))];
        for (way, from, to) in ways {
            if from.1.may_open(*key, to.1) {
                match guess(*key, from, to, ops) {
                    Some(opening) => push(&mut found, way, opening),
                    None if covered(*key, from, to, machines) => {}
                    None => left.push((way, *key)),
                }
            }
        }
    }
    if left.is_empty() {
        return found;
    }
    let Ok(Both { product, sides, named }) = Both::new([its, theirs], machines) else {
        left.into_iter().for_each(|(way, key)| push(&mut found, way, Opening::unproven(key, TOO_LARGE)));
        return found;
    };
    let goals = left.iter().map(|(way, key)| match way {
        0 => goal(1, *key, [(old, sides[0]), (new, sides[1])], ops),
        _ => goal(0, *key, [(new, sides[1]), (old, sides[0])], ops),
    });
    for (number, opening) in hunt(&product, &named, goals.collect()) {
        if let Some((way, _)) = left.get(number) {
            push(&mut found, *way, opening);
        }
    }
    found
}

/// What `key` refuses in the first and nothing does in the second, which is that side of the product.
fn goal<'a>(side: usize, key: Key, [from, to]: [(&'a View<'a>, Side); 2], ops: &'a [Op]) -> Goal<'a> {
    let ((from, from_side), (to, to_side)) = (from, to);
    let shows = move |accepted, op: Op| to_side.permits(accepted, op) && from_side.refuses(key, accepted, op);
    let turns =
        move |accepted, op: Op| from_side.refuses(key, accepted, op) && !to_side.refuses(key, accepted, op);
    Goal {
        key,
        side,
        own: [from_side.machines(key), to_side.machines(key)].concat(),
        turns: Box::new(move |accepted| ops.iter().any(|op| turns(accepted, *op))),
        wanted: Box::new(move |accepted| ops.iter().any(|op| shows(accepted, *op))),
        show: Box::new(move |accepted, path| {
            ops.iter().filter(|op| shows(accepted, **op)).find_map(|op| {
                let witness = Witness { path: Some((path.to_vec(), *op)), ..to.call() };
                Opening::shown(key, witness, from, to)
            })
        }),
    }
}

fn push(found: &mut Found, way: usize, opening: Opening) {
    let answer = match opening.evidence {
        Evidence::Witness(witness) => witness.path.ok_or(TOO_LARGE),
        Evidence::Unproven(why) => Err(why),
    };
    if let Some(out) = found.get_mut(way) {
        out.push((opening.key, answer));
    }
}
