//! Whether one policy permits what another refuses: the exact comparison, in one sentence.

use crate::diff::{Aspect, Subject, compare};
use crate::endpoint::Key;
use crate::policy::CompiledPolicy;

/// What `after` permits and `before` refuses, as the end of a sentence; none where nothing is wider.
#[must_use]
pub fn widens(before: &CompiledPolicy, after: &CompiledPolicy) -> Option<String> {
    let diff = compare(before, after);
    let change = diff.changes.iter().find(|change| change.verdict.opens())?;
    Some(match (&change.subject, change.aspect) {
        (Subject::Endpoint(id), Aspect::Key(Key::Enabled)) => format!("opens `{id}`"),
        (Subject::Endpoint(id), Aspect::Key(key)) => format!("widens `{}` of `{id}`", key.as_str()),
        (Subject::Identity(id), _) => format!("gives the token `{id}` more"),
        (subject, _) => format!("widens `{}`", subject.name()),
    })
}
