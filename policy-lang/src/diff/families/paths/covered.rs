//! Changed entries that another entry covers, so that they make no difference. Which one it may be is told by what decides a
//! path of the changed entry; that it covers all of it is proved by their two automata alone.
//!
//! Nothing is concluded where that fails.

use super::entries::Entries;
use super::guess::{filled, only_in};
use crate::automata::{Grammar, Machines, Product, Tape, TooLarge};
use crate::decide::Op;
use crate::diff::view::View;
use crate::endpoint::Key;
use crate::paths::PathVerdict;
use crate::paths::pattern::{self, Pattern, Side};
use crate::paths::rest;
use crate::policy::ElementRef;
use crate::resolved::ResolvedValue;

/// Whether `to` surely permits nothing that `key` refuses in `from`, for each entry that could is covered.
pub(super) fn covered(
    key: Key,
    (from, its): (&View<'_>, &Entries),
    (to, theirs): (&View<'_>, &Entries),
    machines: &mut Machines,
) -> bool {
    let (changed, by, side) = match key {
        Key::PathsAllow if its.kept == theirs.kept => (only_in(&theirs.allow, &its.allow), from, Side::Allow),
        Key::PathsDeny => (only_in(&its.deny, &theirs.deny), to, Side::Deny),
        _ => return false,
    };
    changed.into_iter().all(|(expression, pattern)| {
        let deciding = deciding(by, pattern, side);
        deciding.is_some_and(|entry| {
            let patterns = pattern::parse(entry, side, by.policy.base_dir()).unwrap_or_default();
            let mut wider = patterns.iter().map(|pattern| rest::expression(pattern, side));
            wider.any(|wider| includes(&wider, expression, side.refuses(), machines) == Ok(true))
        })
    })
}

/// The entry of a side that decides a path of the pattern.
fn deciding<'a>(view: &View<'a>, pattern: &Pattern, side: Side) -> Option<&'a str> {
    let path = filled(pattern, "/a").into_bytes();
    let rules = view.rules.paths.as_ref()?;
    let element = match (side, rules.judge(&path, Op::Read)) {
        (Side::Allow, _) => rules.allowed_by(&path)?,
        (_, PathVerdict::Denied(element)) => element,
        _ => return None,
    };
    written(view, element)
}

fn written<'a>(view: &View<'a>, element: ElementRef) -> Option<&'a str> {
    match &view.policy.resolved().statement(element.statement?)?.value {
        ResolvedValue::List(list) => list.get(element.element as usize).map(|element| element.value),
        _ => None,
    }
}

/// Whether one expression matches all that the other does.
fn includes(wider: &str, other: &str, covers: bool, machines: &mut Machines) -> Result<bool, TooLarge> {
    let mut product = Product::new(Grammar::Path);
    let wider = product.add(Tape::Raw, machines.list(vec![wider.to_owned()], covers)?);
    let other = product.add(Tape::Raw, machines.list(vec![other.to_owned()], covers)?);
    product.never(&[wider, other], |accepted| accepted.by(other) && !accepted.by(wider))
}
