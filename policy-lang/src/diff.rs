//! What changes between two policies: for every (endpoint, key) whether more calls are permitted, fewer, or others, with
//! the rule and place on both sides and a call that shows it.
//!
//! The comparison is of what is decided, not of what is written: [`crate::decide::decide`] is asked about every call that
//! is shown, on both sides, and what is called the same is proven to be so. Where neither a call nor a proof is found,
//! the change is taken for one that opens, and says why.
//!
//! An endpoint that is closed on one side has one change, of `enabled`: whatever else was said of it had no effect there.

pub mod accept;
mod change;
mod families;
mod group;
pub mod human;
mod said;
mod set;
pub mod table;
mod tokens;
mod view;
mod witness;

pub use change::{Aspect, Cause, Change, Diff, Evidence, Said, Subject, Verdict};
pub use group::{Group, groups};
pub use human::{Shown, human};
pub use set::{Set, load_set};
pub use witness::{Answer, Beyond, Witness};

use crate::endpoint::{CustomRoute, ENDPOINTS, KEYS, Key};
use crate::policy::CompiledPolicy;
use families::Memory;
use said::Place;
use view::{Opening, View};

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'a> {
    /// The policy.
    pub policy: &'a CompiledPolicy,
    /// The declared endpoints that its tool knew, by id, where that was another than this one.
    pub known: Known<'a>,
}

/// Which declared endpoints a side's tool knew.
#[derive(Debug, Clone, Copy)]
pub enum Known<'a> {
    /// Those of this tool.
    All,
    /// These ids.
    These(&'a [&'a str]),
    /// Nobody knows: its table is none that was released.
    Unknown,
}

impl<'a> From<&'a CompiledPolicy> for Compared<'a> {
    fn from(policy: &'a CompiledPolicy) -> Self {
        Self { policy, known: Known::All }
    }
}

const UNKNOWN_TABLE: &str =
    "a compiled set was made for an endpoint table that this tool does not know: compile it again";

/// Compares two policies.
#[must_use]
pub fn compare<'a>(old: impl Into<Compared<'a>>, new: impl Into<Compared<'a>>) -> Diff {
    let (old, new) = (old.into(), new.into());
    let mut diff = Diff { changes: tokens::compare(old.policy, new.policy), ..Diff::default() };
    diff.changes.extend(unknown(old, new));
    let mut memory = Memory::default();
    let custom = |side: Compared<'a>| side.policy.resolved().custom.iter().map(id);
    let gone = custom(old).filter(|id| !custom(new).any(|other| other == *id));
    let ids = ENDPOINTS.iter().map(|decl| decl.name).chain(custom(new)).chain(gone);
    for id in ids {
        let place = |side: Compared<'a>| Place { policy: side.policy, view: view(side, id) };
        endpoint(id, place(old), place(new), &mut memory, &mut diff);
    }
    diff
}

/// A side whose endpoints nobody knows may have lacked what the other has.
fn unknown(old: Compared<'_>, new: Compared<'_>) -> Option<Change> {
    let is = |side: Compared<'_>| matches!(side.known, Known::Unknown);
    (is(old) || is(new)).then(|| Change {
        subject: Subject::Table,
        aspect: Aspect::Endpoints,
        verdict: Verdict::Widened,
        opening: Some(Evidence::Unproven(UNKNOWN_TABLE)),
        closing: None,
        old: Said::default(),
        new: Said::default(),
        cause: Cause::Base,
    })
}

fn id(route: &CustomRoute) -> &str {
    &route.id
}

/// The endpoint as a side has it; none where its tool did not know it.
fn view<'a>(side: Compared<'a>, id: &'a str) -> Option<View<'a>> {
    let ix = witness::endpoint(side.policy, id)?;
    let declared = side.policy.decl(ix).is_some();
    if let (true, Known::These(known)) = (declared, side.known)
        && !known.contains(&id)
    {
        return None;
    }
    Some(View { policy: side.policy, id, ix, rules: side.policy.endpoint(ix)? })
}

fn endpoint<'a>(id: &str, old: Place<'a>, new: Place<'a>, memory: &mut Memory, diff: &mut Diff) {
    let open = |place: Place<'a>| place.view.filter(|view| view.rules.enabled.value);
    let accepted = old.view.or(new.view).map_or(0, |view| {
        view.decl().map_or(crate::endpoint::catalogue::CUSTOM_KEYS, |decl| decl.accepts).iter().count()
    });
    diff.compared += accepted;
    match (open(old), open(new)) {
        (Some(one), Some(other)) => {
            let [opened, closed] = families::compare(&one, &other, memory);
            for decl in &KEYS {
                let of = |found: &[Opening]| found.iter().position(|opening| opening.key == decl.key);
                let (opening, closing) = (of(&opened), of(&closed));
                let opening = opening.and_then(|at| opened.get(at)).map(|opening| opening.evidence.clone());
                let closing = closing.and_then(|at| closed.get(at)).map(|closing| closing.evidence.clone());
                if opening.is_some() || closing.is_some() {
                    diff.changes.push(change(id, decl.key, old, new, opening, closing));
                }
            }
        }
        (None, None) => diff.latent += latent(old, new),
        (one, other) => {
            let evidence = || Some(Evidence::Witness(Box::new(Witness::of(id))));
            let opening = other.is_some().then(evidence).flatten();
            let closing = one.is_some().then(evidence).flatten();
            diff.changes.push(change(id, Key::Enabled, old, new, opening, closing));
            diff.latent += latent(old, new);
        }
    }
}

/// Keys that say something else where an endpoint is closed.
fn latent(old: Place<'_>, new: Place<'_>) -> usize {
    let (Some(old), Some(new)) = (old.view, new.view) else { return 0 };
    KEYS.iter().filter(|decl| decl.key != Key::Enabled && said::differs(&old, &new, decl.key)).count()
}

fn change(
    id: &str,
    key: Key,
    old: Place<'_>,
    new: Place<'_>,
    opening: Option<Evidence>,
    closing: Option<Evidence>,
) -> Change {
    let witness = opening.as_ref().or(closing.as_ref()).and_then(Evidence::witness);
    let path = witness.and_then(|witness| witness.path.as_ref()).map(|(path, _)| path.as_slice());
    let said = |place: Place<'_>| {
        let answer = witness.map(|witness| witness.ask(place.policy));
        place.view.map(|view| said::said(&view, key, answer.as_ref(), path)).unwrap_or_default()
    };
    Change {
        subject: Subject::Endpoint(id.to_owned()),
        aspect: Aspect::Key(key),
        verdict: Verdict::of(opening.is_some(), closing.is_some()),
        old: said(old),
        new: said(new),
        cause: said::cause(old, new, key),
        opening,
        closing,
    }
}
