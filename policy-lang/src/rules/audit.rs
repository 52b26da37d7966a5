//! How much is written to the audit log.

use super::{Kind, word};
use crate::endpoint::KeyKind;

/// The levels, least first.
const LEVELS: &[&str] = &["off", "deny", "all"];

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Audit,
    takes: "`off`, `deny` or `all`",
    doc: "`off`: nothing of what was allowed; `deny`: refusals; `all`: every decision. Refusals are written always.",
    read: |cx, key, node| word::read(cx, key, LEVELS, node),
    schema: |_| word::schema(LEVELS),
};
