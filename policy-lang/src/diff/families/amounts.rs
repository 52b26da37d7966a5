//! Keys whose values are ordered: limits, `overwrite`, `symlinks`, `audit`.

use crate::decide::Op;
use crate::diff::view::{Opening, View};
use crate::diff::witness::{Beyond, Witness};
use crate::endpoint::Key;

/// Every limit.
pub(super) const LIMITS: [Key; 8] = [
    Key::LimitsMaxBytes,
    Key::LimitsMaxRequestBytes,
    Key::LimitsMaxEntries,
    Key::LimitsMaxDurationSeconds,
    Key::LimitsMaxOutputBytes,
    Key::LimitsTimeoutSeconds,
    Key::LimitsRatePerMinute,
    Key::LimitsMaxConcurrency,
];

/// A limit opens where it is higher, or gone.
pub(super) fn limits(from: &View<'_>, to: &View<'_>, out: &mut Vec<Opening>) {
    for key in LIMITS {
        let Some(least) = from.rules.limits.of(key).and_then(|limit| limit.value.checked_add(1)) else {
            continue;
        };
        // The most that is permitted now says more than the least that was refused.
        let amount = to.rules.limits.of(key).map_or(least, |limit| limit.value.max(least));
        let witness = match key {
            Key::LimitsMaxBytes => Witness { bytes: Some(amount), ..to.call() },
            Key::LimitsMaxRequestBytes => Witness { request_bytes: Some(amount), ..to.call() },
            key => Witness { beyond: Some(Beyond::Amount(key, amount)), ..to.call() },
        };
        out.extend(Opening::shown(key, witness, from, to));
    }
}

pub(super) fn overwrite(from: &View<'_>, to: &View<'_>, out: &mut Vec<Opening>) {
    let witness = Witness { beyond: Some(Beyond::Overwrite), ..to.call() };
    out.extend(Opening::shown(Key::ParamsOverwrite, witness, from, to));
}

pub(super) fn symlinks(from: &View<'_>, to: &View<'_>, out: &mut Vec<Opening>) {
    let witness = Witness { beyond: Some(Beyond::Link), ..to.call() };
    out.extend(Opening::shown(Key::PathsSymlinks, witness, from, to));
}

/// Less is recorded: what is done unseen is more than was. `off` and `deny` both leave out only what was permitted.
pub(super) fn audit(from: &View<'_>, to: &View<'_>, out: &mut Vec<Opening>) {
    let witness = Witness { beyond: Some(Beyond::Unrecorded), ..to.call() };
    out.extend(Opening::shown(Key::Audit, witness, from, to));
}

/// What the endpoint does to a path, where nobody says.
pub(super) fn usual(view: &View<'_>) -> Op {
    Op::usual(view.decl(), "path")
}
