//! Which rules of the document are dead: a rule is dead when deleting it changes no resolved value.
//!
//! Decided without deleting. Of one key a rule says one thing, so its keys can be judged one by one: a replacing key is
//! dead where on each of its endpoints the rule is beaten, or what it beats says the same; an accumulating key where each
//! of its elements stands in another rule for the same endpoint. Tests delete rules and compare.
//!
//! The environment of a server may open a group, so a close is compared as if it did: a `false` by id or glob is alive where
//! only a group or the defaults would close in its place.

use super::Context;
use super::context::Authored;
use crate::endpoint::{KEYS, Key, MergeLaw};
use crate::explain::keys::base;
use crate::layer::Specificity;
use crate::merge::conflict::same_value;
use crate::merge::index::{closes, rank};
use crate::resolved::{EndpointIx, List, ResolvedValue, RuleIx, StatementIx};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What says the same as a dead rule, or beats it: another rule, or the catalogue's base value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shadow {
    /// The rule.
    pub rule: RuleIx,
    /// Its statement; none for a base value.
    pub statement: Option<StatementIx>,
    /// Whether it beats the dead rule; else it says what the dead rule says.
    pub beats: bool,
}

/// Every dead rule of the document with what shadows it, by rule.
#[must_use]
pub fn dead(context: &Context<'_>) -> BTreeMap<RuleIx, Vec<Shadow>> {
    let repeated = OnceCell::new();
    let mut rules: BTreeMap<RuleIx, Option<Vec<Shadow>>> = BTreeMap::new();
    for authored in context.authored() {
        let shadows = rules.entry(authored.said.rule).or_insert_with(|| Some(Vec::new()));
        let Some(known) = shadows else { continue };
        match shadowed(context, &repeated, &authored) {
            Some(more) => known.extend(more),
            None => *shadows = None,
        }
    }
    let dead = rules.into_iter().filter_map(|(rule, shadows)| Some((rule, shadows?)));
    dead.map(|(rule, mut shadows)| {
        let mut seen = HashSet::new();
        shadows.retain(|shadow| seen.insert(*shadow));
        (rule, shadows)
    })
    .collect()
}

/// What shadows one key of a rule on every endpoint; none where it is alive on one.
fn shadowed<'a>(
    context: &Context<'a>,
    repeated: &OnceCell<Repeated<'a>>,
    authored: &Authored<'a>,
) -> Option<Vec<Shadow>> {
    let key = authored.said.key;
    let accumulates = KEYS.get(key.index())?.law == MergeLaw::Accumulate;
    let mut shadows = Vec::new();
    // Wide selectors meet the same few rules over and over.
    let mut judged: HashMap<(Option<StatementIx>, Option<StatementIx>), bool> = HashMap::new();
    // What an endpoint does not take, and a close of the core, are among no endpoint's candidates.
    let mut spoken = context.takers(&authored.block.selector, key);
    spoken.retain(|endpoint| context.candidates(*endpoint, key).contains(&authored.at));
    if accumulates
        && !spoken.is_empty()
        && !repeated.get_or_init(|| Repeated::of(context)).may_be_dead(context, authored.at)
    {
        return None;
    }
    for endpoint in spoken {
        let candidates = context.candidates(endpoint, key);
        if accumulates {
            shadows.extend(elsewhere(context, authored.at, candidates)?);
            continue;
        }
        let shadow = of_endpoint(context, authored, endpoint, candidates, &mut judged)?;
        if !shadows.contains(&shadow) {
            shadows.push(shadow);
        }
    }
    Some(shadows)
}

fn of_endpoint(
    context: &Context<'_>,
    authored: &Authored<'_>,
    endpoint: EndpointIx,
    candidates: &[StatementIx],
    judged: &mut HashMap<(Option<StatementIx>, Option<StatementIx>), bool>,
) -> Option<Shadow> {
    let resolved = context.resolved();
    let (first, next) = (*candidates.first()?, candidates.get(1).copied());
    let of = |at: StatementIx, beats| {
        Some(Shadow { rule: resolved.statement(at)?.rule, statement: Some(at), beats })
    };
    if first != authored.at {
        return of(first, true);
    }
    let Some(next) = next else {
        let (value, rule) = base(context.catalogue, context.base_dir, endpoint, authored.said.key)?;
        return says_the_same(&value, &authored.said.value).then_some(Shadow {
            rule,
            statement: None,
            beats: false,
        });
    };
    let same = |at: StatementIx| {
        resolved.statement(at).is_some_and(|said| says_the_same(&said.value, &authored.said.value))
    };
    let holds =
        |at: StatementIx| rank(resolved, at).is_some_and(|rank| rank.specificity > Specificity::Group);
    if closes(authored.said) && holds(first) && !holds(next) {
        return None;
    }
    let agrees = *judged.entry((Some(next), candidates.get(2).copied())).or_insert_with(|| same(next));
    // What stood behind the rule may be two that contradict each other once it is gone.
    let rank_of = |at: StatementIx| rank(resolved, at);
    let tied = candidates.iter().skip(2).take_while(|at| rank_of(**at) == rank_of(next));
    let settled = authored.said.key == Key::Enabled || tied.into_iter().all(|at| same(*at));
    (agrees && settled).then(|| of(next, false)).flatten()
}

/// The statements that hold every element of an accumulating one; none where an element stands nowhere else.
fn elsewhere(context: &Context<'_>, at: StatementIx, candidates: &[StatementIx]) -> Option<Vec<Shadow>> {
    let mut holders: HashMap<&str, StatementIx> = HashMap::new();
    for other in candidates.iter().filter(|other| **other != at) {
        for value in elements(context, *other) {
            holders.entry(value).or_insert(*other);
        }
    }
    let holder = |value: &str| {
        let at = *holders.get(value)?;
        Some(Shadow { rule: context.resolved().statement(at)?.rule, statement: Some(at), beats: false })
    };
    elements(context, at).map(holder).collect()
}

/// [`same_value`], which sorts both lists, after a look that settles it for most.
fn says_the_same(a: &ResolvedValue, b: &ResolvedValue) -> bool {
    const FEW: usize = 8;
    if let (ResolvedValue::List(a), ResolvedValue::List(b)) = (a, b) {
        let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        let known = |value: &str| few.values().any(|known| known == value);
        if few.len() <= FEW && !many.values().all(known) {
            return false;
        }
    }
    same_value(a, b)
}

fn elements<'a>(context: &Context<'a>, at: StatementIx) -> impl Iterator<Item = &'a str> {
    let list = match context.resolved().statement(at).map(|said| &said.value) {
        Some(ResolvedValue::List(list)) => Some(list),
        _ => None,
    };
    list.into_iter().flat_map(List::values)
}

/// The first elements of accumulating statements that stand in several statements: a quick no for all others.
struct Repeated<'a>(HashSet<(Key, &'a str)>);

impl<'a> Repeated<'a> {
    fn of(context: &Context<'a>) -> Self {
        let accumulates =
            |key: Key| KEYS.get(key.index()).is_some_and(|decl| decl.law == MergeLaw::Accumulate);
        let said = || {
            let all = (0..).map(StatementIx).zip(&context.resolved().statements);
            all.filter(|(_, said)| accumulates(said.key))
        };
        let mut counts: HashMap<(Key, &str), usize> = HashMap::new();
        for (at, statement) in said() {
            if let Some(first) = elements(context, at).next() {
                counts.insert((statement.key, first), 0);
            }
        }
        for (at, statement) in said() {
            for value in elements(context, at) {
                if let Some(count) = counts.get_mut(&(statement.key, value)) {
                    *count += 1;
                }
            }
        }
        Self(counts.into_iter().filter(|(_, count)| *count > 1).map(|(first, _)| first).collect())
    }

    fn may_be_dead(&self, context: &Context<'a>, at: StatementIx) -> bool {
        let Some(statement) = context.resolved().statement(at) else { return false };
        elements(context, at).next().is_none_or(|first| self.0.contains(&(statement.key, first)))
    }
}
