//! What tests leave out, with places counted out.

use super::load::{Group, document};
use super::view::{Gap, Measured, Mutant};
use policy_lang::diag::Levels;
use policy_lang::endpoint::Catalogue;
use policy_lang::stages::Inputs;
use policy_lang::testing::Suite;
use policy_lang::testing::coverage::coverage as count;
use policy_lang::testing::mutate::mutate;
use policy_lang::variant::Stack;

pub(super) fn coverage(group: &Group, suites: &[&Suite]) -> Option<Measured<Gap>> {
    let policy = group.outcome.policy.as_ref()?;
    let counted = count(suites, policy);
    let gaps = counted.missing.into_iter().map(|missing| Gap {
        rule: missing.rule,
        at: missing.at.map(|at| policy.print_place(at)),
        keys: missing.keys.iter().map(|key| key.as_str()).collect(),
        whole: missing.whole,
    });
    Some(Measured { total: counted.total, done: counted.decided, missing: gaps.collect() })
}

pub(super) fn mutation(group: &Group, suites: &[&Suite], preset: Option<&str>) -> Option<Measured<Mutant>> {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let inputs = Inputs { preset: preset.or(group.preset.as_deref()), ..Inputs::new(&catalogue, &levels) };
    // A suite that fails already notices every mutant, and says nothing.
    let policy = group.outcome.policy.as_ref()?;
    if !suites.iter().all(|suite| policy_lang::testing::run::holds(suite, policy)) {
        return None;
    }
    let stack = Stack::new(Some(document(&group.source)), &group.outcome, &inputs)?;
    let result = mutate(suites, &stack, &catalogue)?;
    let sources = &group.outcome.sources;
    let survivors = result.survivors.into_iter().map(|survivor| Mutant {
        rule: survivor.rule,
        key: survivor.key.as_str(),
        change: survivor.change,
        at: survivor.at.map(|span| {
            let place = sources.place(span);
            format!("{}:{}:{}", sources.name(span.source), place.line, place.column)
        }),
    });
    Some(Measured { total: result.total, done: result.noticed, missing: survivors.collect() })
}
