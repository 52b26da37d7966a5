//! Whether one policy allows what another refuses, by what both say of each endpoint and key.
//!
//! Compared as written, so that a path-list may be called wider that is only spelt otherwise, and never the other way
//! round: what this lets pass has not widened. It is the last word on a fix that is made unread.

use crate::endpoint::{Catalogue, KEYS, Key, MergeLaw};
use crate::explain::absolute_form;
use crate::paths::pattern::is_glob;
use crate::policy::CompiledPolicy;
use crate::resolved::{EndpointIx, ResolvedValue};
use crate::variant::{Said, said};

/// What `after` allows and `before` refuses, as the end of a sentence; none where nothing is wider.
#[must_use]
pub fn widens(before: &CompiledPolicy, after: &CompiledPolicy, catalogue: &Catalogue) -> Option<String> {
    if let Some(token) = tokens(before, after) {
        return Some(token);
    }
    if before.base_dir() != after.base_dir() {
        return Some(format!("moves `base_dir` to `{}`", after.base_dir()));
    }
    catalogue.iter().find_map(|endpoint| of_endpoint(before, after, catalogue, endpoint))
}

fn of_endpoint(
    before: &CompiledPolicy,
    after: &CompiledPolicy,
    catalogue: &Catalogue,
    endpoint: EndpointIx,
) -> Option<String> {
    let name = catalogue.name(endpoint);
    let open = |policy: &CompiledPolicy| policy.endpoint(endpoint).is_some_and(|endpoint| endpoint.enabled.value);
    if !open(after) {
        return None;
    }
    if !open(before) {
        return Some(format!("opens `{name}`"));
    }
    let says = |policy: &CompiledPolicy, key| said(policy.resolved(), catalogue, policy.base_dir(), endpoint, key);
    let wider = |key: &Key| {
        let (was, is) = (says(before, *key), says(after, *key));
        match (key, &was, &is) {
            (Key::PathsAllow, Some(Said::Set(was)), Some(Said::Set(is))) => {
                let covered = |path: &String| was.iter().any(|entry| path == entry || beneath(path, entry, before.base_dir()));
                !is.iter().all(covered)
            }
            _ => wider(*key, was.as_ref(), is.as_ref()),
        }
    };
    let key = catalogue.accepts(endpoint).iter().find(wider)?;
    Some(format!("widens `{}` of `{name}`", key.as_str()))
}

/// Whether a path without a glob is, or lies below, what an allowed entry without one names.
#[must_use]
pub(crate) fn beneath(path: &str, entry: &str, base_dir: &str) -> bool {
    if is_glob(path) || is_glob(entry) {
        return false;
    }
    let whole = |path: &str| {
        let absolute = absolute_form(Key::PathsAllow, path, base_dir).unwrap_or_else(|| path.to_owned());
        absolute.trim_end_matches('/').to_owned()
    };
    let (path, entry) = (whole(path), whole(entry));
    path.strip_prefix(&*entry).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a value of a key lets through more than another. What has no value restricts nothing.
fn wider(key: Key, before: Option<&Said>, after: Option<&Said>) -> bool {
    let accumulates = KEYS.get(key.index()).is_some_and(|decl| decl.law == MergeLaw::Accumulate);
    // More of a deny-list, of what may only be read and of what a caller needs is less.
    let narrows = accumulates || matches!(key, Key::Scopes | Key::PathsReadOnly);
    match (before, after) {
        _ if key == Key::Audit => false,
        (before, after) if before == after => false,
        (None, Some(_)) => false,
        (Some(Said::Set(set)), None) => !(narrows && set.is_empty()),
        (Some(Said::One(value)), None) => !matches!(value, ResolvedValue::Bool(false)) || key == Key::ParamsOverwrite,
        (Some(Said::Set(before)), Some(Said::Set(after))) if narrows => !before.iter().all(|one| after.contains(one)),
        (Some(Said::Set(before)), Some(Said::Set(after))) => !after.iter().all(|one| before.contains(one)),
        // `read_only: true` is more than any list.
        (Some(Said::Set(_)), Some(Said::One(ResolvedValue::Bool(true)))) => false,
        (Some(Said::One(ResolvedValue::Number(before))), Some(Said::One(ResolvedValue::Number(after)))) => {
            after > before
        }
        (Some(Said::One(_)), Some(Said::One(ResolvedValue::Bool(after)))) => match key {
            Key::ParamsBlockPrivateNetworks | Key::PathsReadOnly => !after,
            _ => *after,
        },
        (Some(Said::One(_)), Some(Said::One(ResolvedValue::Word(after)))) => {
            !(key == Key::PathsSymlinks && after == "deny")
        }
        _ => true,
    }
}

/// What callers gain.
fn tokens(before: &CompiledPolicy, after: &CompiledPolicy) -> Option<String> {
    let (before, after) = match (before.principals(), after.principals()) {
        (None, None) | (None, Some(_)) => return None,
        (Some(_), None) => return Some("lets callers in without a token".to_owned()),
        (Some(before), Some(after)) => (before, after),
    };
    let more = after.iter().find(|principal| {
        let known = before.iter().find(|known| known.id == principal.id);
        known.is_none_or(|known| {
            let held = known.scopes.names();
            known.secret != principal.secret
                || !(known.scopes.is_all() || principal.scopes.names().iter().all(|scope| held.contains(scope)))
        })
    })?;
    Some(format!("gives the token `{}` more", more.id))
}
