//! What happens at a symbolic link.

use super::{Kind, word};
use crate::endpoint::KeyKind;

const MODES: &[&str] = &["within", "deny"];

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Symlinks,
    takes: "`within` or `deny`",
    doc: "`within`: a link is followed while its target stays inside the allowed paths; `deny`: no link is followed.",
    read: |cx, key, node| word::read(cx, key, MODES, node),
    schema: |_| word::schema(MODES),
};
