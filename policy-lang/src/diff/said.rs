//! What each side says of a key, for people and for a first look at whether anything can have changed.

use super::change::{Cause, Said};
use super::view::View;
use super::witness::Answer;
use crate::endpoint::{Catalogue, KEYS, Key, MergeLaw};
use crate::explain::{self, Holds, show_value};
use crate::layer::LayerKind;
use crate::merge::conflict::same_value;
use crate::policy::{CompiledPolicy, ElementRef};
use crate::resolved::{ResolvedStatement, ResolvedValue};

fn accumulates(key: Key) -> bool {
    KEYS.get(key.index()).is_some_and(|decl| decl.law == MergeLaw::Accumulate)
}

/// Whether the two sides say something else of a key. `false` is a promise: what the key permits is the same, the base
/// directory apart.
pub(super) fn differs(old: &View<'_>, new: &View<'_>, key: Key) -> bool {
    if accumulates(key) {
        return elements(old, key) != elements(new, key);
    }
    let value = |view: &View<'_>| view.rules.limits.of(key).map(|limit| limit.value);
    if value(old) != value(new) {
        return true;
    }
    match (old.statements(key).next(), new.statements(key).next()) {
        (None, None) => old.decl().is_none() && key == Key::Scopes,
        (Some(old), Some(new)) => !same_value(&old.value, &new.value),
        _ => true,
    }
}

fn elements<'a>(view: &View<'a>, key: Key) -> Vec<&'a str> {
    let lists = view.statements(key).filter_map(|statement| match &statement.value {
        ResolvedValue::List(list) => Some(list.values()),
        _ => None,
    });
    let mut values: Vec<&str> = lists.flatten().collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// What a side says of a key, by the element that decided the call where one did.
pub(super) fn said(view: &View<'_>, key: Key, answer: Option<&Answer>, path: Option<&[u8]>) -> Said {
    let refusing = answer.filter(|answer| !answer.allowed).map(|answer| answer.element);
    let allowing = || {
        let path = path.filter(|_| key == Key::PathsAllow)?;
        view.rules.paths.as_ref()?.allowed_by(path)
    };
    let decided = refusing.or_else(allowing).and_then(|element| by_element(view.policy, key, element));
    decided.unwrap_or_else(|| by_key(view, key))
}

/// The element itself, where it belongs to the key.
fn by_element(policy: &CompiledPolicy, key: Key, element: ElementRef) -> Option<Said> {
    let statement = policy.resolved().statement(element.statement?)?;
    if statement.key != key {
        return None;
    }
    let value = match &statement.value {
        ResolvedValue::List(list) => {
            list.get(element.element as usize).map(|element| element.value.to_owned())
        }
        _ => None,
    };
    let rule = policy.rule(element.rule)?;
    Some(Said {
        value: Some(value.unwrap_or_else(|| show_value(key, &statement.value))),
        rule: Some(rule.name.clone()),
        layer: Some(rule.layer),
        at: policy.place(element),
    })
}

/// What holds for the key. Where its elements come from several rules, the strongest speaks.
fn by_key(view: &View<'_>, key: Key) -> Said {
    let resolved = view.policy.resolved();
    if let Some(statement) = view.statements(key).next() {
        let rule = resolved.rule(statement.rule);
        return Said {
            value: Some(show_value(key, &statement.value)),
            rule: rule.map(|rule| rule.name.clone()),
            layer: rule.map(|rule| rule.layer),
            at: statement.at,
        };
    }
    let Ok(catalogue) = Catalogue::with_custom(resolved.custom.clone()) else { return Said::default() };
    let all = explain::keys(view.policy, &catalogue, view.ix);
    match all.into_iter().find(|report| report.key == key).map(|report| report.holds) {
        Some(Holds::One { winner, .. }) => Said {
            value: Some(show_value(key, &winner.value)),
            rule: Some(winner.rule.to_owned()),
            layer: Some(winner.layer),
            // Where nobody says which paths, the base directory does.
            at: winner.at.or_else(|| resolved.base_dir.as_ref()?.1.filter(|_| key == Key::PathsAllow)),
        },
        _ => Said::default(),
    }
}

/// An endpoint of a policy that may not have it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) policy: &'a CompiledPolicy,
    pub(super) view: Option<View<'a>>,
}

/// Who changed what holds for a key.
pub(super) fn cause(old: Place<'_>, new: Place<'_>, key: Key) -> Cause {
    let (mine, theirs) = (holding(old.view, key), holding(new.view, key));
    let alone = |one: &[Rule<'_>], other: &[Rule<'_>]| -> Vec<usize> {
        (0..one.len())
            .filter(|at| one.get(*at).is_some_and(|rule| !other.iter().any(|known| known.is(rule))))
            .collect()
    };
    let gone: Vec<&Rule<'_>> = alone(&mine, &theirs).into_iter().filter_map(|at| mine.get(at)).collect();
    let come: Vec<&Rule<'_>> = alone(&theirs, &mine).into_iter().filter_map(|at| theirs.get(at)).collect();
    let Some(first) = come.first().or(gone.first()) else {
        // The same entries mean other paths where the base directory moved.
        let moved = old.policy.base_dir() != new.policy.base_dir();
        return if moved { Cause::Author } else { Cause::Base };
    };
    if old.view.is_none() || new.view.is_none() {
        let known = come.iter().all(|rule| rule.stands_in(old.policy, key))
            && gone.iter().all(|rule| rule.stands_in(new.policy, key));
        if known {
            return Cause::Table(first.name.to_owned());
        }
    }
    let presets = [old, new].map(|place| place.policy.preset());
    if presets[0] == presets[1] && gone.iter().chain(&come).all(|rule| rule.layer == LayerKind::Preset) {
        return Cause::Preset(presets[0].to_owned());
    }
    Cause::Author
}

/// A statement without its place.
#[derive(Debug, Clone, Copy)]
struct Rule<'a> {
    layer: LayerKind,
    name: &'a str,
    value: &'a ResolvedValue,
}

impl Rule<'_> {
    fn is(&self, other: &Rule<'_>) -> bool {
        self.layer == other.layer && self.name == other.name && same_value(self.value, other.value)
    }

    fn stands_in(&self, policy: &CompiledPolicy, key: Key) -> bool {
        let resolved = policy.resolved();
        let of = |statement: &ResolvedStatement| {
            let rule = resolved.rule(statement.rule);
            rule.is_some_and(|rule| {
                self.is(&Rule { layer: rule.layer, name: &rule.name, value: &statement.value })
            })
        };
        resolved.statements.iter().any(|statement| statement.key == key && of(statement))
    }
}

/// The statements that make the value of a key.
fn holding(view: Option<View<'_>>, key: Key) -> Vec<Rule<'_>> {
    let count = if accumulates(key) { usize::MAX } else { 1 };
    let Some(view) = view else { return Vec::new() };
    let resolved = view.policy.resolved();
    let rules = view.statements(key).take(count).filter_map(|statement| {
        let rule = resolved.rule(statement.rule)?;
        Some(Rule { layer: rule.layer, name: &rule.name, value: &statement.value })
    });
    rules.collect()
}
