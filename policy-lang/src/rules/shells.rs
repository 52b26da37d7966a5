//! Shells that a call may name: programs.

use super::{Kind, commands, list};
use crate::endpoint::KeyKind;

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Shells,
    takes: "a list of shells",
    doc: "A list of shells, each a program's name or its absolute path, compared exactly with the `shell` of a call.",
    read: |cx, key, node| list::read(cx, key, KIND.takes, node, commands::element),
    schema: commands::schema,
};
