//! Changes that one edit made, together: a rule over many endpoints is one thing to review.

use super::change::{Change, Subject};

/// Changes alike in everything but the endpoint.
#[derive(Debug, Clone)]
pub struct Group<'a> {
    /// The first of them, which speaks for all.
    pub change: &'a Change,
    /// The endpoints, in the order of the catalogue; empty where the subject is none.
    pub endpoints: Vec<&'a str>,
}

/// Groups changes, in the order of their first; what opens comes before what closes.
#[must_use]
pub fn groups<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for change in changes {
        let Subject::Endpoint(id) = &change.subject else {
            groups.push(Group { change, endpoints: Vec::new() });
            continue;
        };
        match groups.iter_mut().find(|group| !group.endpoints.is_empty() && alike(group.change, change)) {
            Some(group) => group.endpoints.push(id),
            None => groups.push(Group { change, endpoints: vec![id] }),
        }
    }
    groups.sort_by_key(|group| !group.change.verdict.opens());
    groups
}

fn alike(one: &Change, other: &Change) -> bool {
    let proven = |change: &Change| change.evidence().is_some_and(|evidence| evidence.witness().is_some());
    one.aspect == other.aspect
        && one.verdict == other.verdict
        && one.old == other.old
        && one.new == other.new
        && one.cause == other.cause
        && proven(one) == proven(other)
}
